import { type Cause, invalid, notSupported } from '@kruise/schema/field-error';
import { validateLabelValue } from '@kruise/values/names';
import { validateLabelKey } from '../meta/labels.validate.ts';
import { oneOf } from '../meta/value.validate.ts';
import type { Toleration } from './toleration.ts';

export const taintEffects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

export function* validateTolerations(tolerations: readonly Toleration[], path: string): Generator<Cause> {
  for (const [index, toleration] of tolerations.entries()) yield* validateToleration(toleration, `${path}[${index}]`);
}

function* validateToleration(toleration: Toleration, path: string): Generator<Cause> {
  const { key, value = '', tolerationSeconds } = toleration;
  const [operator, effect]: readonly [string, string] = [toleration.operator ?? '', toleration.effect ?? ''];
  if (key) yield* validateLabelKey(key, `${path}.key`);
  else if (operator !== 'Exists') {
    const detail = 'operator must be Exists when `key` is empty, which means "match all values and all keys"';
    yield invalid(`${path}.operator`, operator, detail);
  }
  if (tolerationSeconds !== undefined && effect !== 'NoExecute') {
    yield invalid(`${path}.effect`, effect, "effect must be 'NoExecute' when `tolerationSeconds` is set");
  }
  if (operator === 'Exists') {
    if (value) yield invalid(`${path}.operator`, value, "value must be empty when `operator` is 'Exists'");
  } else if (operator === 'Equal' || operator === '') {
    const faults = validateLabelValue(value);
    if (faults.length > 0) yield invalid(`${path}.operator`, value, faults.join(';'));
  } else yield notSupported(`${path}.operator`, operator, ['Equal', 'Exists']);
  if (effect) yield* oneOf(`${path}.effect`, effect, taintEffects);
}
