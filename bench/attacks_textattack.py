"""TextAttack's side of bench/attacks.py: one recipe on the job's sentences, in TextAttack's own environment.

Put together as Huang & Baldwin's published code does: TextAttack's transformations and searches, BERTScore F as the
victim, perplexity (BOS added, padded batches of 16) as the constraint. What cannot be had without a network is given by
the job: stop words in place of NLTK's, part-of-speech tags by spaCy in place of Flair's. The random letters of
`deepwordbug` are TextAttack's own (`draws`: `own`, seeded per sentence) or those that babelquake draws (`keyed`), which
leaves no chance in the comparison. `greedy-inflate` turns the goal round: TextAttack's greedy search is to raise the
score within the job's `queries` a sentence, by the masked model's words, while chrF does not rise.

Sentences that OUT.json holds already are not attacked again. Given a folder CLAIMS, several processes share the
sentences: each attacks those that it is the first to claim there.

Usage: python bench/attacks_textattack.py JOB.json RECIPE OUT.json [CLAIMS]
"""

import json
import random
import sys
import time
from pathlib import Path
from unittest.mock import patch

import numpy as np
import spacy
import textattack
import torch
from bert_score import BERTScorer
from sacrebleu.metrics import CHRF
from textattack import Attack
from textattack.constraints import Constraint
from textattack.constraints.overlap import LevenshteinEditDistance
from textattack.constraints.pre_transformation import RepeatModification, StopwordModification
from textattack.goal_functions import TextToTextGoalFunction
from textattack.models.wrappers import ModelWrapper
from textattack.search_methods import GreedySearch, GreedyWordSwapWIR, SearchMethod
from textattack.shared import AttackedText
from textattack.transformations import (
    CompositeTransformation,
    WordDeletion,
    WordInsertionMaskedLM,
    WordMergeMaskedLM,
    WordSwapMaskedLM,
    WordSwapNeighboringCharacterSwap,
    WordSwapRandomCharacterDeletion,
    WordSwapRandomCharacterInsertion,
    WordSwapRandomCharacterSubstitution,
)
from transformers import AutoModelForCausalLM, AutoModelForMaskedLM, PreTrainedTokenizerFast

sys.path.append(str(Path(__file__).parents[1] / "src"))
from babelquake.randomness import Stream


class Victim(ModelWrapper):
    """BERTScore F against the sentence's reference, normalised."""

    def __init__(self, job: dict) -> None:
        self.model = None
        self.scorer = BERTScorer(
            model_type=job["encoder"],
            num_layers=job["layer"],
            batch_size=64,
            device=job["device"],
            use_fast_tokenizer=True,
        )
        self.scorer._model.float()  # weights are stored in half precision, which newer transformers keep
        self.mean, self.sd = job["mean"], job["sd"]
        self.reference, self.original, self.asked = "", 0.0, 0

    def set(self, text: str, reference: str) -> None:
        self.reference = reference
        self.original = self([text])[0]

    def __call__(self, texts: list) -> list:
        self.asked += len(texts)
        scores = self.scorer.score(list(texts), [self.reference] * len(texts))[2]
        return ((scores - self.mean) / self.sd).tolist()


class Goal(TextToTextGoalFunction):
    """f̂ falls by more than the threshold."""

    sign = 1.0

    def __init__(self, victim: Victim, by: float, **options: object) -> None:
        self.victim, self.by = victim, by
        super().__init__(victim, **options)

    def _is_goal_complete(self, output: float, _: object) -> bool:
        return self.sign * (self.victim.original - output) > self.by

    def _get_score(self, output: float, _: object) -> float:
        return self.sign * (self.victim.original - output)


class Rise(Goal):
    """f̂ rises by more than the threshold."""

    sign = -1.0


class Quality(Constraint):
    """chrF does not rise."""

    def __init__(self, victim: Victim) -> None:
        super().__init__(True)
        self.victim, self.chrf, self.start = victim, CHRF(), 0.0

    def set(self, text: str) -> None:
        self.start = self.score(text)

    def score(self, text: str) -> float:
        return self.chrf.sentence_score(text, [self.victim.reference]).score

    def _check_constraint(self, text: AttackedText, _: AttackedText) -> bool:
        return self.score(text.text) <= self.start


class Fluency(Constraint):
    """Perplexity rises by less than ten, as Hugging Face evaluate counts it."""

    def __init__(self, folder: str, rise: float, device: str) -> None:
        super().__init__(True)
        self.tokenizer = PreTrainedTokenizerFast.from_pretrained(folder)
        self.tokenizer.pad_token = self.tokenizer.pad_token or self.tokenizer.eos_token
        self.lm = AutoModelForCausalLM.from_pretrained(folder).float().to(device).eval()
        self.rise, self.device, self.start = rise, device, 0.0

    def set(self, text: str) -> None:
        (self.start,) = self.perplexities([text])

    def perplexities(self, texts: list) -> list:
        found = []
        for begin in range(0, len(texts), 16):
            batch = self.tokenizer(
                texts[begin : begin + 16], add_special_tokens=False, padding=True, return_tensors="pt"
            ).to(self.device)
            first = torch.full((len(batch["input_ids"]), 1), self.tokenizer.bos_token_id, device=self.device)
            ids = torch.cat([first, batch["input_ids"]], dim=1)
            mask = torch.cat([torch.ones_like(first), batch["attention_mask"]], dim=1)
            with torch.no_grad():
                logits = self.lm(ids, attention_mask=mask).logits[:, :-1]
            loss = torch.nn.functional.cross_entropy(logits.transpose(1, 2), ids[:, 1:], reduction="none")
            found += torch.exp((loss * mask[:, 1:]).sum(1) / mask[:, 1:].sum(1)).tolist()
        return found

    def _check_constraint(self, text: AttackedText, _: AttackedText) -> bool:
        return self.perplexities([text.text])[0] - self.start < self.rise

    def _check_constraint_many(self, texts: list, _: AttackedText) -> list:
        values = self.perplexities([text.text for text in texts])
        return [text for text, value in zip(texts, values, strict=True) if value - self.start < self.rise]


class Beam(SearchMethod):
    """Beam search with a limit on rounds, as the paper's authors added it."""

    is_black_box = True

    def __init__(self, width: int, iterations: int) -> None:
        self.width, self.iterations = width, iterations

    def perform_search(self, initial: object) -> object:
        beam, best = [initial.attacked_text], initial
        for _ in range(self.iterations):
            found = [
                text
                for member in beam
                for text in self.get_transformations(member, original_text=initial.attacked_text)
            ]
            if not found:
                return best
            results, over = self.get_goal_results(found)
            scores = np.array([result.score for result in results])
            best = results[scores.argmax()]
            if over or best.goal_status == textattack.goal_function_results.GoalFunctionResultStatus.SUCCEEDED:
                return best
            beam = [found[place] for place in (-scores).argsort()[: self.width]]
        return best


def tagged(pipeline: object) -> None:
    """Part-of-speech tags by spaCy: Flair's models need a network."""

    def pos(self: AttackedText, index: int) -> str:
        if not self._pos_tags:
            tokens = [(token.idx, token.idx + len(token), token.pos_) for token in pipeline(self.text)]
            tags, start = [], 0
            for word in self.words:
                start = self.text.index(word, start)
                tags.append(next((tag for begin, end, tag in tokens if begin <= start < end), "X"))
                start += len(word)
            self._pos_tags = tags
        return self._pos_tags[index]

    AttackedText.pos_of_word_index = pos


LETTERS = {
    "swap-letters": WordSwapNeighboringCharacterSwap,
    "substitute-letter": WordSwapRandomCharacterSubstitution,
    "delete-letter": WordSwapRandomCharacterDeletion,
    "insert-letter": WordSwapRandomCharacterInsertion,
}
"""DeepWordBug's transformations by the names that babelquake's moves have."""


def keyed(kind: str, seed: int) -> object:
    """A transformation that draws its spots and letters from babelquake's streams."""

    class Keyed(LETTERS[kind]):
        def _get_transformations(self, text: AttackedText, places: set) -> list:
            found = []
            for place in places:
                self.stream = Stream(seed, kind, text.text, place)
                with patch("numpy.random.randint", lambda low, high: low + self.stream.below(high - low)):
                    found += super()._get_transformations(text, [place])
            return found

        def _get_random_letter(self) -> str:
            return self.stream.choice(self.letters_to_insert)

    return Keyed()


def transformation(job: dict, recipe: str) -> object:
    if recipe == "input-reduction":
        return WordDeletion()
    if recipe == "deepwordbug":
        own = job.get("draws", "own") == "own"
        return CompositeTransformation([LETTERS[kind]() if own else keyed(kind, job["seed"]) for kind in LETTERS])
    model = AutoModelForMaskedLM.from_pretrained(job["masked"]).float().to(job["device"])
    tokenizer = PreTrainedTokenizerFast.from_pretrained(job["masked"])
    common = {"masked_language_model": model, "tokenizer": tokenizer, "max_length": job["length"]}
    if recipe == "greedy-inflate":
        common |= {"max_candidates": 10, "min_confidence": 0.0}
        return CompositeTransformation([WordSwapMaskedLM(method="bae", **common), WordInsertionMaskedLM(**common)])
    tagged(spacy.load(job["spacy"]))
    common["max_candidates"] = 50
    return CompositeTransformation(
        [
            WordSwapMaskedLM(method="bae", min_confidence=5e-4, **common),
            WordInsertionMaskedLM(min_confidence=0.0, **common),
            WordMergeMaskedLM(min_confidence=5e-3, **common),
        ]
    )


def claimed(file: Path) -> bool:
    """Whether no other process has taken this sentence."""
    try:
        file.touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


def main() -> None:
    job, recipe, out = json.loads(Path(sys.argv[1]).read_text("utf-8")), sys.argv[2], Path(sys.argv[3])
    torch.set_num_threads(job["threads"])
    victim = Victim(job)
    inflates = recipe == "greedy-inflate"
    constraints: list = [RepeatModification()]
    if not inflates:
        constraints.append(StopwordModification(stopwords=job["stop_words"]))
    limit = (
        Quality(victim) if inflates else Fluency(job["causal"], job["rise"], job["device"]) if job["causal"] else None
    )
    if limit:
        constraints.append(limit)
    if recipe == "deepwordbug":
        constraints.append(LevenshteinEditDistance(30))
    search = {
        "input-reduction": lambda: GreedyWordSwapWIR(wir_method="delete"),
        "deepwordbug": GreedyWordSwapWIR,
        "clare": lambda: Beam(2, 10),
        "greedy-inflate": GreedySearch,
    }[recipe]()
    goal = Rise(victim, job["by"], query_budget=job["queries"]) if inflates else Goal(victim, job["by"])
    attack = Attack(goal, constraints, transformation(job, recipe), search)
    found = json.loads(out.read_text("utf-8")) if out.exists() else {}
    rows, asked = found.get("rows", []), found.get("queries", 0)
    claims = Path(sys.argv[4]) if len(sys.argv) > 4 else None
    before, used_before = found.get("seconds", 0.0), found.get("processor_seconds", 0.0)

    def attacked(place: int) -> object:
        sentence = job["sentences"][place]
        random.seed(1000 * job.get("seed", 0) + place)
        np.random.seed(1000 * job.get("seed", 0) + place)
        victim.set(sentence["translation"], sentence["reference"])
        if limit:
            limit.set(sentence["translation"])
        return attack.attack(sentence["translation"], 1)

    if not claims:  # warm up
        attacked(0)
        attack.clear_cache()
    victim.asked = 0
    started, processor = time.perf_counter(), time.process_time()
    for place in range(len(job["sentences"])):
        if place < len(rows):
            continue
        if claims and not claimed(claims / str(place)):
            rows.append(None)
            continue
        result = attacked(place)
        rows.append(
            {
                "success": type(result).__name__ == "SuccessfulAttackResult",
                "perturbed": result.perturbed_result.attacked_text.text,
                "queries": result.perturbed_result.num_queries,
                "gain": result.perturbed_result.score,
            }
        )
        seconds = before + time.perf_counter() - started
        used = used_before + time.process_time() - processor
        found = {"seconds": seconds, "processor_seconds": used, "queries": asked + victim.asked, "rows": rows}
        out.write_text(json.dumps(found), "utf-8")
        if seconds > job["limit"]:
            break


if __name__ == "__main__":
    main()
