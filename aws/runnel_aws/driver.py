"""The driver of an experiment: the four phases of the thesis, section 5.4.2, each of which can be begun anew at any time."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from .config import Config
from .phases.experiment import run_experiment
from .phases.restart_tracker import restart_tracker
from .phases.scale_in import scale_in
from .phases.scale_out import scale_out
from .phases.sessions import run_sessions
from .setup import setup
from .state import Phase, State, first_phase
from .tools import Tools


class Driver:
    """Goes from phase to phase, and keeps before each what is next: the one after a killed driver goes on there."""

    def __init__(
        self, tools: Tools, config: Config, directory: Path, token: str, save: Callable[[State], None]
    ) -> None:
        self._tools = tools
        self._config = config
        self._directory = directory
        self._token = token
        self._save = save
        self._phases: dict[Phase, Callable[[State], State]] = {
            "setup": self._set_up,
            "tracker": self._restart_tracker,
            "scale-out": self._scale_out,
            "experiment": self._run_experiment,
            "scale-in": self._scale_in,
        }

    def run(self, state: State) -> None:
        """From that state to the end."""
        if state.phase not in ("setup", "finished"):
            self._tools.say(f"going on: {self._describe(state)}")
            # What somebody has torn down meanwhile stands again; whoever drives from another address is let in.
            setup(self._tools, self._config, self._token)
        while state.phase != "finished":
            self._save(state)
            self._tools.say(self._describe(state))
            state = self._phases[state.phase](state)
        self._save(state)

    def _describe(self, state: State) -> str:
        names: dict[Phase, str] = {
            "setup": "setup",
            "tracker": "phase 1: restart the tracker",
            "scale-out": "phase 2: start machines",
            "experiment": f"phase 3: {self._config.experiment}",
            "scale-in": "phase 4: end machines",
        }
        of = f" ({self._config.sizes[state.size]} {self._config.role}s, repeat {state.repeat + 1} of {self._config.repeats})"
        return names[state.phase] + ("" if state.phase in ("setup", "scale-in") else of)

    def _set_up(self, state: State) -> State:
        setup(self._tools, self._config, self._token)
        return state.at(first_phase(self._config))

    def _restart_tracker(self, state: State) -> State:
        restart_tracker(self._tools, self._config)
        return state.at("scale-out")

    def _scale_out(self, state: State) -> State:
        scale_out(self._tools, self._config, self._config.sizes[state.size])
        return state.at("experiment")

    def _run_experiment(self, state: State) -> State:
        size = self._config.sizes[state.size]
        out = self._directory / f"{size:04}-{self._config.role}s" / f"repeat-{state.repeat + 1:02}"
        if not self._run_on_machines(size, out):
            return state.at("scale-out")
        if state.repeat + 1 < self._config.repeats:
            return state.at(first_phase(self._config), repeat=state.repeat + 1)
        if state.size + 1 < len(self._config.sizes):
            return state.at(first_phase(self._config), size=state.size + 1, repeat=0)
        return state.at("scale-in")

    def _run_on_machines(self, size: int, out: Path) -> bool:
        if self._config.role == "worker":
            return run_sessions(self._tools, self._config, size, out)
        return run_experiment(self._tools, self._config, size, self._directory, out)

    def _scale_in(self, state: State) -> State:
        scale_in(self._tools, self._config)
        return state.at("finished")
