/**
 * Prints a value the way Go's spew package prints the struct that the value decodes into (`%#v`, methods disabled, keys
 * sorted). Kubernetes hashes this text to name ReplicaSets and revisions, so it contains every field of the struct, set
 * or not, and the private fields of quantities and times.
 *
 * A printer is compiled per node. The text of an absent field is a constant, and most fields of most objects are
 * absent.
 */
import { compareStrings } from '@kruise/values/go-syntax';
import { parseQuantity, type Quantity, zeroQuantity } from '@kruise/values/quantity';
import { parseTime, zeroInstant } from '@kruise/values/time';
import { asField, type Node, type ObjectNode, resolve } from '../language.ts';
import { goFieldName, goTypeOf } from './go-type.ts';

/** Prints values of one Go type. The type itself is printed by the field that holds the value. */
type Printer = {
  /** Returns the text of Go's zero value. */
  readonly zero: () => string;
  /** Returns the text of a value that is neither absent nor null. */
  readonly print: (value: unknown) => string;
};

const none = '<nil>';
const printers = new WeakMap<Node, Printer>();

/**
 * Returns the text that spew prints for the Go struct of a JSON value.
 *
 * ```ts
 * goDump(pod.root, web); // core.Pod{TypeMeta:v1.TypeMeta{…}, …}
 * ```
 */
export function goDump(node: ObjectNode, value: unknown): string {
  return `(${goTypeOf(node)})${printWith(printerOf(node), value)}`;
}

function printWith({ zero, print }: Printer, value: unknown): string {
  return value === undefined || value === null ? zero() : print(value);
}

function printerOf(unresolved: Node): Printer {
  const node = resolve(unresolved);
  let printer = printers.get(node);
  if (!printer) {
    printer = compile(node);
    printers.set(node, printer);
  }
  return printer;
}

function compile(node: ReturnType<typeof resolve>): Printer {
  switch (node.type) {
    case 'string':
      return scalar('');
    case 'boolean':
      return scalar('false');
    case 'integer':
      return scalar('0');
    case 'intOrString':
      return { zero: () => intOrString(0, 0, ''), print: printIntOrString };
    case 'quantity':
      return { zero: () => quantity(narrow(0, 0), '', ''), print: (value) => printQuantity(value as string | number) };
    case 'time':
      return { zero: () => time(0, none), print: (value) => printTime(value as string) };
    case 'list':
      return { zero: () => none, print: listPrinter(node.items) };
    case 'map':
      return { zero: () => none, print: mapPrinter(node.values) };
    case 'object':
      return objectPrinter(node);
    case 'any':
      if (node.form !== 'fieldsV1') break;
      return { zero: () => rawJson(none), print: (value) => rawJson(printBytes(JSON.stringify(value))) };
  }
  throw new Error(`no structure that is hashed holds a ${goTypeOf(node)}`);
}

function scalar(zero: string): Printer {
  return { zero: () => zero, print: String };
}

function listPrinter(items: Node): Printer['print'] {
  return (value) => {
    const printer = printerOf(items);
    return `[${(value as readonly unknown[]).map((item) => printWith(printer, item)).join(' ')}]`;
  };
}

function mapPrinter(values: Node): Printer['print'] {
  return (value) => {
    const printer = printerOf(values);
    const entries = Object.entries(value as object).sort(([a], [b]) => compareStrings(a, b));
    return `map[${entries.map(([key, each]) => `${key}:${printWith(printer, each)}`).join(' ')}]`;
  };
}

type FieldPrinter = {
  readonly name: string;
  readonly inline: boolean;
  /** Name and type of the field, as printed before its value. */
  readonly prefix: string;
  readonly absent: string;
  readonly print: Printer['print'];
};

function objectPrinter(node: ObjectNode): Printer {
  // Compiled on first use: a struct may refer to itself.
  let compiled: readonly FieldPrinter[] | undefined;
  const print = (value: unknown): string => {
    compiled ??= fieldPrinters(node);
    let text = '';
    for (const field of compiled) {
      const member = field.inline ? value : (value as Readonly<Record<string, unknown>>)[field.name];
      text += field.prefix;
      text += member === undefined || member === null ? field.absent : field.print(member);
    }
    return `{${text}}`;
  };
  return { zero: () => print({}), print };
}

function fieldPrinters(node: ObjectNode): readonly FieldPrinter[] {
  return Object.entries(node.fields).map(([name, member], index) => {
    const field = asField(member);
    const isPointer = field.pointer && !['list', 'map'].includes(resolve(field.node).type);
    const type = (isPointer ? '*' : '') + goTypeOf(field.node);
    const { zero, print } = isPointer ? { zero: () => none, print: lazily(field.node) } : printerOf(field.node);
    return {
      name,
      inline: field.inline ?? false,
      prefix: `${index === 0 ? '' : ' '}${goFieldName(name, field)}:(${type})`,
      absent: zero(),
      print,
    };
  });
}

function lazily(node: Node): Printer['print'] {
  return (value) => printerOf(node).print(value);
}

function printIntOrString(value: unknown): string {
  return typeof value === 'string' ? intOrString(1, 0, value) : intOrString(0, Number(value), '');
}

function intOrString(type: 0 | 1, number: number, text: string): string {
  return `{Type:(intstr.Type)${type} IntVal:(int32)${number} StrVal:(string)${text}}`;
}

function printQuantity(value: string | number): string {
  const parsed = parseQuantity(typeof value === 'string' ? value.trim() : value);
  const text = parsed === zeroQuantity ? '0' : (parsed.text ?? '');
  const amount = parsed.wide ? wide(parsed) : narrow(parsed.unscaled, parsed.scale);
  return quantity(amount, text, parsed.family);
}

function quantity(amount: string, text: string, format: string): string {
  return `{${amount} s:(string)${text} Format:(resource.Format)${format}}`;
}

function narrow(value: number | bigint, scale: number): string {
  return `${integerAmount(value, scale)} d:(resource.infDecAmount){Dec:(*inf.Dec)${none}}`;
}

function integerAmount(value: number | bigint, scale: number): string {
  return `i:(resource.int64Amount){value:(int64)${value} scale:(resource.Scale)${scale}}`;
}

/** Returns a decimal of any length: its magnitude in words of 64 bits, the lowest first, and a scale of opposite sign. */
function wide({ unscaled, scale }: Quantity): string {
  const words: bigint[] = [];
  for (let rest = BigInt(unscaled) < 0n ? -BigInt(unscaled) : BigInt(unscaled); rest > 0n; rest >>= 64n) {
    words.push(BigInt.asUintN(64, rest));
  }
  const magnitude = `{neg:(bool)${unscaled < 0} abs:(big.nat)${words.length === 0 ? none : `[${words.join(' ')}]`}}`;
  return `${integerAmount(0, 0)} d:(resource.infDecAmount){Dec:(*inf.Dec){unscaled:(big.Int)${magnitude} scale:(inf.Scale)${-scale}}}`;
}

/**
 * Decoded times are in the local time zone, whose data Go loads when a process first formats a local time. Until then,
 * and in all recorded hashes, the zone is empty.
 */
const localZone =
  '{name:(string) zone:([]time.zone)<nil> tx:([]time.zoneTrans)<nil> extend:(string) cacheStart:(int64)0 cacheEnd:(int64)0 cacheZone:(*time.zone)<nil>}';

/** Prints whole seconds: fractions are not stored. */
function printTime(text: string): string {
  return time(Math.floor((parseTime(text) - zeroInstant) / 1000), localZone);
}

function time(seconds: number, zone: string): string {
  return `{Time:(time.Time){wall:(uint64)0 ext:(int64)${seconds} loc:(*time.Location)${zone}}}`;
}

function rawJson(bytes: string): string {
  return `{Raw:([]uint8)${bytes}}`;
}

function printBytes(text: string): string {
  return `[${new TextEncoder().encode(text).join(' ')}]`;
}
