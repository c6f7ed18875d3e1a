"""What `make mpi4py` makes of what the ranks wrote: outcomes, what an interrupted job leaves, what is compared."""

from __future__ import annotations

from pathlib import Path

from tests.mpi4py_suite.outcomes import Result, differences, load, merged, on_both, read_job, save, stuck_tests, summary


def wrote(prefix: Path, *ranks: str) -> None:
    """`ranks`: for each what it wrote, `word test` a line."""
    for rank, text in enumerate(ranks):
        lines = [f"{line.split()[0]}\t{line.split()[1]}\t''\t1.0\n" for line in text.strip().split("\n")]
        Path(f"{prefix}.{rank}").write_text("".join(lines), encoding="utf-8")


def test_a_job_that_hangs_blames_the_tests_that_were_running(tmp_path: Path) -> None:
    wrote(tmp_path / "job1", "start a\nok a\nstart b\nok b", "start a\nskipped a\nstart b")
    result = Result()
    assert read_job(result.outcomes, tmp_path / "job1", 2, "hang") == {"a", "b"}
    assert {key: word for key, (word, _) in result.outcomes.items()} == {
        ("a", 0): "ok",
        ("a", 1): "skipped",
        ("b", 0): "ok",
        ("b", 1): "hang",
    }
    assert stuck_tests(result.outcomes) == {"b"}
    assert summary(result.outcomes) == "2 tests: 2 ok, 1 skipped, 1 hang"


def test_an_interrupted_job_leaves_what_all_ranks_finished(tmp_path: Path) -> None:
    wrote(tmp_path / "job1", "start a\nok a\nstart b\nok b\nstart c", "start a\nok a\nstart b")
    result = Result()
    assert read_job(result.outcomes, tmp_path / "job1", 2, None) == {"a"}
    assert set(result.outcomes) == {("a", 0), ("a", 1)}


def test_the_worst_of_several_outcomes_counts(tmp_path: Path) -> None:
    wrote(tmp_path / "job1", "start a\nfailure a\nok a")
    result = Result()
    read_job(result.outcomes, tmp_path / "job1", 1, "died")
    assert result.outcomes[("a", 0)][0] == "failure"


def test_a_result_is_kept_for_what_it_is_of(tmp_path: Path) -> None:
    kept = Result({("a", 0): ("ok", "")}, 3, True, carried=7, off_node=1)
    kept.left["intercommunicator"] = 2
    save(kept, "this library", tmp_path / "kept.json")
    assert load("this library", tmp_path / "kept.json") == kept
    assert load("another library", tmp_path / "kept.json") is None
    assert load("this library", tmp_path / "missing.json") is None


def test_only_what_both_sides_came_to_is_compared() -> None:
    plain = Result({("a", 0): ("ok", ""), ("b", 0): ("ok", "")}, ended=True)
    interrupted = Result({("a", 0): ("failure", "why")}, ended=False)
    assert differences(*on_both(plain, interrupted)) == ["  a on rank 0: ok without, failure with libopi\n      why"]
    interrupted.ended = True
    assert len(differences(*on_both(plain, interrupted))) == 2
    assert differences({}, {}) == ["  no test ran: nothing was compared"]


def test_parts_make_a_whole() -> None:
    one, two = Result({("a", 0): ("ok", "")}, 1, True, carried=2), Result({("b", 0): ("ok", "")}, 2, False, carried=3)
    whole = merged([one, two])
    assert (len(whole.outcomes), whole.jobs, whole.ended, whole.carried) == (2, 3, False, 5)
