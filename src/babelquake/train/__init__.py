"""The recipes behind the models that ship. Import `babelquake.train.nmt` to train; nothing is loaded before."""
