import type { Json } from './definitions.ts';
import type { Steps } from './steps.ts';

/** Members that are written in one step. */
const membersPerStep = 32;
/** Depth of the objects whose members are written apart: paths, definitions, and `components.schemas`. */
const deepest = 3;

/**
 * Writes a document as JSON, with the same text as `JSON.stringify`.
 *
 * ```ts
 * const text = runSteps(documentText(openApiV2([{ kind: pod, subresources: [] }], vocabulary)));
 * ```
 */
export function* documentText(document: Json): Steps<string> {
  const texts: string[] = [];
  yield* writeObject(document, 1, texts);
  return texts.join('');
}

function* writeObject(object: Json, depth: number, texts: string[]): Steps<void> {
  let separator = '{';
  let written = 0;
  for (const [name, value] of Object.entries(object)) {
    if (value === undefined) continue;
    texts.push(separator, JSON.stringify(name), ':');
    separator = ',';
    if (depth < deepest && typeof value === 'object' && value !== null && !Array.isArray(value)) {
      yield* writeObject(value as Json, depth + 1, texts);
    } else texts.push(JSON.stringify(value));
    if (++written % membersPerStep === 0) yield;
  }
  texts.push(separator === '{' ? '{}' : '}');
}
