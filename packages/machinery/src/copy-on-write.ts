import { type JsonObject, put } from './json-value.ts';

/** Copy-on-write changes of an object: the first change copies it; without changes the original is returned. */
export class CopyOnWrite {
  readonly #source: JsonObject;
  #copy: Record<string, unknown> | undefined;

  constructor(source: JsonObject) {
    this.#source = source;
  }

  has(name: string): boolean {
    return Object.hasOwn(this.#copy ?? this.#source, name);
  }

  get(name: string): unknown {
    return this.has(name) ? (this.#copy ?? this.#source)[name] : undefined;
  }

  names(): readonly string[] {
    return Object.keys(this.#copy ?? this.#source);
  }

  set(name: string, value: unknown): void {
    if (this.has(name) && this.get(name) === value) return;
    this.#copy ??= { ...this.#source };
    put(this.#copy, name, value);
  }

  delete(name: string): void {
    if (!this.has(name)) return;
    this.#copy ??= { ...this.#source };
    delete this.#copy[name];
  }

  done(): JsonObject {
    return this.#copy ?? this.#source;
  }
}
