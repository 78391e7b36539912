/** `sed` and `awk`, as far as manifests and tests use them. */
import { inputOf, linesOf } from '../byte-streams.ts';
import { type Program, type ProgramContext, writeText } from '../program.ts';
import { parseArguments, ToolError, tool } from './arguments.ts';
import { regExp, toRegExp } from './expression.ts';
import { filesOf, pathOf } from './files.ts';
import { allLines, eachInput } from './inputs.ts';

export const editCommands: Readonly<Record<string, Program>> = { awk: tool(awk), sed: tool(sed) };

/** Supports substitution, deletion and printing of lines. */
async function sed(context: ProgramContext): Promise<number> {
  const { flags, values, operands } = parseArguments(context.argv.slice(1), 'e');
  const [script = '', ...names] = values.has('e') ? [values.get('e') as string, ...operands] : operands;
  const isExtended = flags.has('E') || flags.has('r');
  const steps = script.split(/;|\n/).map((step) => sedStep(step.trim(), isExtended));
  const edit = (original: string, place: Place): string => {
    let printed = '';
    let line: string | undefined = original;
    for (const step of steps) {
      if (line === undefined || !step.applies(place, line)) continue;
      if (step.kind === 'change') line = step.change(line);
      else if (step.kind === 'print') printed += `${line}\n`;
      else line = undefined;
    }
    return line === undefined || flags.has('n') ? printed : `${printed}${line}\n`;
  };
  if (flags.has('i')) {
    const files = filesOf(context);
    for (const name of names) {
      const path = pathOf(context, name);
      const lines = await allLines(inputOf(files.read(path)), context);
      const edited = lines.map((line, index) => edit(line, { number: index + 1, isLast: index === lines.length - 1 }));
      files.write(path, edited.join(''));
    }
    return 0;
  }
  return eachInput(context, names, async (input) => {
    let number = 0;
    let line = await input.readLine(context.process);
    while (line !== undefined) {
      const next = await input.readLine(context.process);
      await writeText(context.stdout, edit(line, { number: ++number, isLast: next === undefined }));
      line = next;
    }
  });
}

type Place = { readonly number: number; readonly isLast: boolean };

type SedStep = { applies(place: Place, line: string): boolean } & (
  | { readonly kind: 'delete' | 'print' }
  | { readonly kind: 'change'; change(line: string): string }
);

function sedStep(text: string, isExtended: boolean): SedStep {
  const [, address = '', rest = ''] = /^(\d+,\d+|\d+,\$|\d+|\$|\/(?:[^/\\]|\\.)*\/)?\s*([\s\S]*)$/.exec(text) ?? [];
  const applies = sedAddress(address, isExtended);
  if (rest === 'd') return { kind: 'delete', applies };
  if (rest === 'p') return { kind: 'print', applies };
  const delimiter = rest[1];
  if (!rest.startsWith('s') || delimiter === undefined) throw new ToolError(`unsupported command ${text}`);
  const parts = rest.slice(2).split(new RegExp(`(?<!\\\\)${delimiter.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')}`));
  const [pattern = '', replacement = '', letters = ''] = parts;
  const expression = regExp(toRegExp(pattern.replaceAll(`\\${delimiter}`, delimiter), isExtended), {
    ignoresCase: /i/i.test(letters),
  });
  const which = letters.includes('g') ? 'all' : 'first';
  const target = replacement
    .replaceAll(`\\${delimiter}`, delimiter)
    .replace(/\$/g, '$$$$')
    .replace(/\\(\d)/g, '$$$1')
    .replace(/(?<!\\)&/g, '$$&')
    .replace(/\\n/g, '\n');
  return { kind: 'change', applies, change: (line) => expression.replace(line, target, which) };
}

function sedAddress(address: string, isExtended: boolean): SedStep['applies'] {
  if (address === '') return () => true;
  if (address === '$') return ({ isLast }) => isLast;
  if (address.startsWith('/')) {
    const expression = regExp(toRegExp(address.slice(1, -1), isExtended));
    return (_, line) => expression.find(line) !== undefined;
  }
  const [first = '0', last = first] = address.split(',');
  return ({ number }) => number >= Number(first) && (last === '$' || number <= Number(last));
}

/** Supports `{print …}` with fields, after an optional pattern. */
async function awk(context: ProgramContext): Promise<number> {
  const { values, operands } = parseArguments(context.argv.slice(1), 'Fv');
  const [program = '', ...names] = operands;
  const [, pattern, action] = /^(?:\/((?:[^/\\]|\\.)*)\/)?\s*(?:\{([^}]*)\})?$/.exec(program.trim()) ?? [];
  const statement = action?.trim();
  if ((pattern === undefined && statement === undefined) || statement?.startsWith('print') === false) {
    throw new ToolError(`unsupported program ${program}`, 2);
  }
  const body = statement?.slice('print'.length).trim().replace(/;$/, '');
  const separator = values.get('F');
  const expression = pattern === undefined ? undefined : regExp(pattern);
  return eachInput(context, names, async (input) => {
    for await (const line of linesOf(input, context.process)) {
      if (expression && expression.find(line) === undefined) continue;
      const fields = separator === undefined ? line.trim().split(/\s+/) : line.split(separator);
      const value = (term: string) => {
        if (term === '$NF') return fields.at(-1) ?? '';
        if (term === 'NF') return String(fields.length);
        if (/^\$\d+$/.test(term)) return term === '$0' ? line : (fields[Number(term.slice(1)) - 1] ?? '');
        return term.replace(/^"(.*)"$/, '$1');
      };
      const groups = (body ?? '').split(',').flatMap((group) => group.trim() || []);
      const text = groups.map((group) => (group.match(/"[^"]*"|\S+/g) ?? []).map(value).join('')).join(' ');
      await writeText(context.stdout, `${groups.length === 0 ? line : text}\n`);
    }
  });
}
