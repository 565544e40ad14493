"""`qdqviz completion`: the shell asks qdqviz itself what could come next."""

from __future__ import annotations

from argparse import REMAINDER, ArgumentParser, Namespace

from qdqviz.cli.command import Command
from qdqviz.cli.output import Output

BASH = """\
_qdqviz() {
    local IFS=$'\\n' word="${COMP_WORDS[COMP_CWORD]}"
    COMPREPLY=($(qdqviz complete-words -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
    # bash has split the word at : and = and wants the rest only
    local before="${word%"${word##*[:=]}"}"
    COMPREPLY=("${COMPREPLY[@]#"$before"}")
    [[ ${COMPREPLY[0]-} == *, || ${COMPREPLY[0]-} == *: ]] && compopt -o nospace
    return 0
}
complete -o default -F _qdqviz qdqviz
"""

ZSH = """\
#compdef qdqviz
_qdqviz() {
    local -a found
    found=("${(@f)$(qdqviz complete-words -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
    if [[ -n ${found[1]} ]]; then compadd -Q -a found; else _files; fi
}
if [[ ${funcstack[1]} == _qdqviz ]]; then _qdqviz "$@"; else compdef _qdqviz qdqviz; fi
"""

FISH = """\
function __qdqviz_words
    set -l words (commandline -opc) (commandline -ct)
    qdqviz complete-words -- $words[2..-1] 2>/dev/null; or __fish_complete_path (commandline -ct)
end
complete -c qdqviz -f -a '(__qdqviz_words)'
"""

SCRIPTS = {"bash": BASH, "zsh": ZSH, "fish": FISH}
"""Shell -> its completion script."""


class Completion(Command):
    """Print a completion script for bash, zsh or fish.

    Commands, options, samples, passes and themes complete with Tab. One command installs it:

      bash   echo 'eval "$(qdqviz completion bash)"' >> ~/.bashrc
      zsh    echo 'eval "$(qdqviz completion zsh)"' >> ~/.zshrc      (after compinit)
      fish   qdqviz completion fish > ~/.config/fish/completions/qdqviz.fish
    """

    def configure(self, parser: ArgumentParser) -> None:
        """Add SHELL."""
        parser.add_argument("shell", metavar="SHELL", choices=tuple(SCRIPTS), help="bash, zsh or fish")

    def run(self, options: Namespace, output: Output) -> int:
        """Print the script."""
        output.styled(SCRIPTS[options.shell].rstrip("\n"))
        return 0


class CompleteWords(Command):
    """Print what could stand for the last of some words of a command line."""

    def configure(self, parser: ArgumentParser) -> None:
        """Add WORDS."""
        parser.add_argument("words", metavar="WORDS", nargs=REMAINDER)

    def run(self, options: Namespace, output: Output) -> int:
        """Print one candidate a line; 1 when only files could come."""
        from qdqviz.cli.candidates import candidates

        words = options.words[1:] if options.words[:1] == ["--"] else options.words
        found = candidates(words)
        for each in found:
            output.line(each)
        return 0 if found else 1
