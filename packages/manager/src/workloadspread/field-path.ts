/** Field paths of replicas in custom workloads. */
import { isObject, own } from '@kruise/machinery/json-value';
import { parseInteger } from '@kruise/values/go-integer';
import { ParseError } from '@kruise/values/parse-error';

/** Returns the integer at a path such as `spec.subsets.1.replicas`; 0 for an empty path. Throws `ParseError`. */
export function integerAt(object: unknown, path: string): number {
  if (path === '') return 0;
  const value = path.split('.').reduce(step, object);
  if (typeof value !== 'number' || !Number.isInteger(value)) throw new ParseError('object type error');
  return value;
}

function step(value: unknown, segment: string): unknown {
  if (Array.isArray(value)) {
    const index = Number(parseInteger(segment));
    if (index < 0 || index >= value.length) throw new ParseError(`index ${index} out of range`);
    return value[index];
  }
  if (!isObject(value)) throw new ParseError('object is not deep enough');
  if (!Object.hasOwn(value, segment)) throw new ParseError(`path "${segment}" not exists`);
  return own(value, segment);
}
