"""Runs Hypothesis state machines against a world, at the size the run asks for."""

from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test

STEPS = 30


def prove(machine: type[RuleBasedStateMachine], *, examples: int) -> None:
    """Run the machine for the given number of examples; a failure is shrunk and shown."""
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=examples,
            stateful_step_count=STEPS,
            deadline=None,
            database=None,
            phases=[Phase.generate, Phase.shrink],
            suppress_health_check=list(HealthCheck),
        ),
    )
