/** Loads one source file of a process with a mutation; the file itself is not changed. */
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';
import { type Mutation, mutate } from './mutations.ts';

/** A mutation, and the absolute path of its file. */
export type PlacedMutation = Mutation & { readonly file: string };

const given = process.env['MUTATION'];
if (given !== undefined) {
  const mutation = JSON.parse(given) as PlacedMutation;
  registerHooks({
    load(url, context, next) {
      if (!url.startsWith('file:') || fileURLToPath(url) !== mutation.file) return next(url, context);
      const source = mutate(readFileSync(mutation.file, 'utf8'), mutation);
      return { format: 'module-typescript', source, shortCircuit: true };
    },
  });
}
