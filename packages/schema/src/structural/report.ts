/**
 * Findings of validation, with the messages of Kubernetes' validator of custom resources. They differ from those of
 * built-in kinds: the path is repeated, and a value of the wrong type is shown by its type.
 */
import { formatGoSyntax, quote } from '@kruise/values/go-syntax';
import { type Cause, type CauseReason, tooLong, tooMany } from '../field-error.ts';

/** Returns a value as the text of a cause shows it. */
export function shown(value: unknown): string {
  return value === null || value === undefined ? '"null"' : formatGoSyntax(value);
}

/** Returns an error of a field, with its value. */
export function fault(reason: CauseReason, field: string, value: unknown, detail: string): Cause {
  return { reason, field, message: `Invalid value: ${shown(value)}: ${detail}` };
}

type Found = { readonly text: string; readonly cause: Cause };

/** Collects errors, and tracks the path of validation. */
export class Report {
  /** Path of the current value, relative to the validated value. */
  path = '';
  /** Number of checks; the failed alternative with the most checks is reported. */
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

  /** Returns an empty report at the same path, for the findings of an alternative or a part that may not matter. */
  branch(path = this.path): Report {
    return new Report(this.#origin, path);
  }

  /** Adds the findings of a branch. */
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

  /** No integer is a multiple of a factor below one. */
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

  /** Reports a property that is not allowed. */
  forbidden(name: string): void {
    const text = `${this.path}.${name} in body is a forbidden property`;
    this.#add(text, fault('FieldValueInvalid', this.#field(), name, text));
  }

  missing(name: string): void {
    const field = this.#field(`${this.path}.${name}`);
    this.#add(`${this.path}.${name} is required`, { reason: 'FieldValueRequired', message: 'Required value', field });
  }

  /** Reports a failure of alternatives, which has the path only in its text. */
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

  /** Equal texts are reported once, because several alternatives often find the same error. */
  #add(text: string, cause: Cause): void {
    if (this.#texts.has(text)) return;
    this.#texts.add(text);
    this.#found.push({ text, cause });
  }
}
