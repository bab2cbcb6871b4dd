"""The recipes behind the models that ship. Import `babelquake.models.train.nmt` to train; nothing is loaded before."""
