/**
 * Assertions on types, for files named `*.type-test.ts`. The compiler checks these (`npm run check`); none is run.
 *
 * ```ts
 * export type Tests = [Expect<Equal<Awaited<Promise<string>>, string>>];
 * ```
 */

/** `true` if two types are the same, not only assignable to each other, and neither is `any`. */
export type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

/** Compiles only if `T` is `true`. */
export type Expect<T extends true> = T;

/** A type with the members of an intersection in one object, at every depth: `Equal` distinguishes both forms. */
export type Flatten<T> = T extends readonly (infer E)[]
  ? readonly Flatten<E>[]
  : T extends object
    ? { [K in keyof T]: Flatten<T[K]> }
    : T;
