/**
 * What validation finds, in the words of Kubernetes' validator of custom resources. These differ from those of
 * built-in kinds: the path is said twice, and a value of the wrong type is named by its type.
 */
import { formatGoSyntax, quote } from '@kruise/values/go-syntax';
import { type Cause, type CauseReason, tooLong, tooMany } from '../field-error.ts';

/** A value in the text of a cause. */
export function shown(value: unknown): string {
  return value === null || value === undefined ? '"null"' : formatGoSyntax(value);
}

/** A fault of a field, its value shown. */
export function fault(reason: CauseReason, field: string, value: unknown, detail: string): Cause {
  return { reason, field, message: `Invalid value: ${shown(value)}: ${detail}` };
}

type Found = { readonly text: string; readonly cause: Cause };

/** The faults found so far, and where in the value validation is. */
export class Report {
  /** The path of the value being looked at, from what was given to the validator. */
  path = '';
  /** How many checks were made; of several alternatives that fail, the one that got furthest is reported. */
  checks = 0;
  readonly #origin: string;
  readonly #found: Found[] = [];
  readonly #texts = new Set<string>();

  constructor(origin: string, path: string) {
    this.#origin = origin;
    this.path = path;
  }

  get isEmpty(): boolean {
    return this.#found.length === 0;
  }

  get causes(): Cause[] {
    return this.#found.map(({ cause }) => cause);
  }

  /** An empty report at the same place: what an alternative or a part finds, before it is known to matter. */
  branch(path = this.path): Report {
    return new Report(this.#origin, path);
  }

  /** Takes over what a branch found. */
  merge(branch: Report): void {
    for (const { text, cause } of branch.#found) this.#add(text, cause);
    this.checks += branch.checks;
  }

  invalid(value: unknown, claim: string): void {
    this.#claim('FieldValueInvalid', value, claim);
  }

  wrongType(expected: string, found: string): void {
    this.#claim('FieldValueTypeInvalid', found, `must be of type ${expected}: ${quote(found)}`);
  }

  unsupported(value: unknown, allowed: readonly unknown[]): void {
    const values = allowed.map((each) => quote(typeof each === 'string' ? each : JSON.stringify(each)));
    const list = values.join(', ');
    const message = `Unsupported value: ${shown(value)}: supported values: ${list}`;
    const cause: Cause = { reason: 'FieldValueNotSupported', message, field: this.#field() };
    this.#add(this.#sentence(`should be one of ${list}`), cause);
  }

  /** No integer is a multiple of less than one. */
  impossibleFactor(factor: number): void {
    const text = `factor MultipleOf declared for ${this.path} must be positive: ${factor}`;
    this.#add(text, fault('FieldValueInvalid', this.#field(), factor, text));
  }

  tooLong(limit: number): void {
    this.#add(this.#sentence(`should be at most ${limit} long`), tooLong(this.#field(), limit));
  }

  tooMany(count: number, limit: number): void {
    this.#add(this.#sentence(`should have at most ${limit}`), tooMany(this.#field(), count, limit));
  }

  /** A property that is there but may not be. */
  forbidden(name: string): void {
    const text = `${this.path}.${name} in body is a forbidden property`;
    this.#add(text, fault('FieldValueInvalid', this.#field(), name, text));
  }

  missing(name: string): void {
    const field = this.#field(`${this.path}.${name}`);
    this.#add(`${this.path}.${name} is required`, { reason: 'FieldValueRequired', message: 'Required value', field });
  }

  /** A fault of the alternatives of a value, which has the path in its text and none of its own. */
  composite(claim: string): void {
    const text = `${quote(this.path)} ${claim}`;
    const field = this.#origin === '' ? '<nil>' : this.#origin;
    this.#add(text, fault('FieldValueInvalid', field, '', text));
  }

  #claim(reason: CauseReason, value: unknown, claim: string): void {
    const text = this.#sentence(claim);
    this.#add(text, fault(reason, this.#field(), value, text));
  }

  #sentence(claim: string): string {
    return `${this.path} in body ${claim}`;
  }

  #field(path = this.path): string {
    const name = path.startsWith('.') ? path.slice(1) : path;
    if (name === '') return this.#origin === '' ? '<nil>' : this.#origin;
    return this.#origin === '' ? name : `${this.#origin}.${name}`;
  }

  /** The same text is reported once, as several alternatives often find the same. */
  #add(text: string, cause: Cause): void {
    if (this.#texts.has(text)) return;
    this.#texts.add(text);
    this.#found.push({ text, cause });
  }
}
