// `payments completion SHELL` prints what a shell needs to complete the command: all of it follows
// from the commands and options themselves. A path such as `/key/roll` names a command.

import { Argument, type Command, type Option } from 'commander';
import { addCommand, type CliContext } from './context.ts';

const shells = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof shells)[number];

/** What follows an option: one of some words, a file, something else, or nothing. */
type Value = readonly string[] | 'file' | 'text' | null;

interface Word {
  readonly word: string;
  readonly description: string;
  readonly value: Value;
}

/** A command, or `*`: options that every command has. */
interface Place {
  readonly path: string;
  readonly commands: readonly Word[];
  readonly options: readonly Word[];
}

export function addCompletionCommand(program: Command, { host }: CliContext): void {
  addCommand(program, 'completion', 'print what a shell needs to complete this command')
    .addArgument(new Argument('<shell>', 'the shell').choices(shells))
    .action((shell: Shell) => host.write(scripts[shell](placesOf(program))));
}

const everywhere = '*';

function placesOf(program: Command): Place[] {
  const help: Word = { word: '--help', description: 'display help for command', value: null };
  const common = { path: everywhere, commands: [], options: [...program.options.map(wordOf), help] };
  const below = (command: Command, path: string): Place[] => {
    const commands = command.commands.map((each) => ({
      word: each.name(),
      description: each.description(),
      value: null,
    }));
    const own = command === program ? [] : command.options.map(wordOf);
    const choices = command.registeredArguments.flatMap(({ argChoices = [] }) => argChoices);
    const arguments_ = choices.map((word) => ({ word, description: '', value: null }));
    const place = { path, commands: [...commands, ...arguments_], options: own };
    return [place, ...command.commands.flatMap((each) => below(each, `${path}/${each.name()}`))];
  };
  return [common, ...below(program, '')];
}

function wordOf(option: Option): Word {
  const { long, flags, description, argChoices, required, optional } = option;
  const hasValue = required || optional;
  const value = argChoices ?? (/<(?:file|folder)>/.test(flags) ? 'file' : 'text');
  return { word: long ?? flags, description, value: hasValue ? value : null };
}

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
const joined = (words: readonly Word[]) => quoted(words.map(({ word }) => word).join(' '));
const pathsOf = (places: readonly Place[]) =>
  places.map(({ path }) => path).filter((path) => path.startsWith('/'));

/** The cases of a shell that has `case`: what follows an option, then what follows a command. */
function casesOf(
  places: readonly Place[],
  offer: { readonly words: (words: string) => string; readonly files: string },
): string {
  const ofOptions = places.flatMap(({ path, options }) =>
    options.flatMap(({ word, value }) => {
      if (value === null) return [];
      const offered =
        value === 'file' ? offer.files : value === 'text' ? ':' : offer.words(quoted(value.join(' ')));
      const pattern = path === everywhere ? `*${quoted(` ${word}`)}` : quoted(`${path} ${word}`);
      return [`    ${pattern}) ${offered}; return ;;`];
    }),
  );
  const [common, ...commands] = places;
  const ofPlaces = commands.map(({ path, commands, options }) => {
    const words = joined([...commands, ...options, ...(common?.options ?? [])]);
    return `    ${quoted(path)}) ${offer.words(words)} ;;`;
  });
  return `  case "$path $previous" in
${ofOptions.join('\n')}
  esac
  case "$path" in
${ofPlaces.join('\n')}
  esac`;
}

const advice = (shell: Shell, how: string) =>
  `# Completion of the command payments for ${shell}: ${how} "payments completion ${shell}" prints.\n`;

const scripts: Readonly<Record<Shell, (places: readonly Place[]) => string>> = {
  bash: (places) => `${advice('bash', 'source what')}_payments() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]} path='' word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$path/$word" in
      ${pathsOf(places).join('|')}) path="$path/$word" ;;
    esac
  done
${casesOf(places, {
  words: (words) => `COMPREPLY=($(compgen -W ${words} -- "$current"))`,
  files: 'COMPREPLY=($(compgen -f -- "$current"))',
})}
}
complete -o filenames -F _payments payments
`,
  zsh: (places) => `#compdef payments
${advice('zsh', 'source what')}_payments() {
  local previous=\${words[CURRENT-1]} path='' word
  for word in \${words[2,CURRENT-1]}; do
    case "$path/$word" in
      (${pathsOf(places).join('|')}) path="$path/$word" ;;
    esac
  done
${casesOf(places, { words: (words) => `compadd -- \${=:-${words.slice(1, -1)}}`, files: '_files' })}
}
compdef _payments payments
`,
  fish: (places) => `${advice('fish', 'source what')}function __payments_path
  set -l path ''
  for word in (commandline -opc)[2..]
    contains -- "$path/$word" ${pathsOf(places).join(' ')}
    and set path "$path/$word"
  end
  echo "$path"
end
complete -c payments -f
${places.map(inFish).join('\n')}
`,
};

function inFish({ path, commands, options }: Place): string {
  const where = path === everywhere ? '' : ` -n ${quoted(`test (__payments_path) = '${path}'`)}`;
  const lines = commands.map(
    ({ word, description }) => `-a ${quoted(word)}${description === '' ? '' : ` -d ${quoted(description)}`}`,
  );
  for (const { word, description, value } of options) {
    const follows =
      value === null
        ? ''
        : value === 'file'
          ? ' -r -F'
          : value === 'text'
            ? ' -x'
            : ` -x -a ${quoted(value.join(' '))}`;
    lines.push(`-l ${word.slice(2)}${follows} -d ${quoted(description)}`);
  }
  return lines.map((line) => `complete -c payments${where} ${line}`).join('\n');
}
