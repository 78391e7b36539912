import { type Cause, duplicate, forbidden, invalid, required } from '@kruise/schema/field-error';
import { validateQualifiedName } from '@kruise/values/names';
import { compareQuantities, MILLI, parseQuantity, type Quantity, scaledValue } from '@kruise/values/quantity';
import { invalidBare } from '../meta/go-value.ts';
import { subdomainName } from '../meta/name-rules.ts';
import { validateKindMeta } from '../meta/object-meta.validate.ts';
import { refusals } from '../meta/value.validate.ts';
import type { LimitRange, LimitRangeItem } from './limitrange.ts';
import { isOvercommitAllowed } from './resource-name.ts';
import { goQuantity, validateContainerResourceName, validateResourceName } from './resources.validate.ts';

const types: readonly string[] = ['Pod', 'Container', 'PersistentVolumeClaim'];

export function* validateLimitRange({ metadata, spec }: LimitRange): Generator<Cause> {
  yield* validateKindMeta(metadata, { namespaced: true, name: subdomainName });
  const seen = new Set<string>();
  for (const [index, limit] of (spec?.limits ?? []).entries()) {
    const path = `spec.limits[${index}]`;
    yield* validateType(limit.type, `${path}.type`);
    if (seen.has(limit.type)) yield duplicate(`${path}.type`, limit.type);
    seen.add(limit.type);
    yield* validateNames(limit, path);
    yield* validateAmounts(limit, path);
  }
}

function* validateType(type: string, path: string): Generator<Cause> {
  const faults = validateQualifiedName(type);
  if (faults.length > 0) yield* refusals(path, type, faults);
  else if (!type.includes('/') && !types.includes(type)) {
    yield invalid(path, type, 'must be a standard limit type or fully qualified');
  }
}

function* validateNames(limit: LimitRangeItem, path: string): Generator<Cause> {
  const validate =
    limit.type === 'Pod' || limit.type === 'Container' ? validateContainerResourceName : validateResourceName;
  const names = function* (field: 'max' | 'min' | 'default' | 'defaultRequest' | 'maxLimitRequestRatio') {
    for (const name in limit[field]) yield* validate(name, `${path}.${field}[${name}]`);
  };
  yield* names('max');
  yield* names('min');
  for (const field of ['default', 'defaultRequest'] as const) {
    if (limit.type !== 'Pod') yield* names(field);
    else if (Object.keys(limit[field] ?? {}).length > 0) {
      yield forbidden(`${path}.${field}`, "may not be specified when `type` is 'Pod'");
    }
  }
  if (limit.type === 'PersistentVolumeClaim' && !limit.min?.['storage'] && !limit.max?.['storage']) {
    const detail = 'either minimum or maximum storage value is required, but neither was provided';
    yield required(`${path}.limits`, detail);
  }
  yield* names('maxLimitRequestRatio');
}

type Field = 'min' | 'max' | 'default' | 'defaultRequest';

/**
 * Pairs of amounts of which the first must not exceed the second, with the field of the error and the names in its
 * message.
 */
const orders: readonly {
  readonly less: Field;
  readonly more: Field;
  readonly at: Field;
  readonly shown: Field;
  readonly named: readonly [string, string];
}[] = [
  { less: 'min', more: 'max', at: 'min', shown: 'min', named: ['min', 'max'] },
  {
    less: 'min',
    more: 'defaultRequest',
    at: 'defaultRequest',
    shown: 'defaultRequest',
    named: ['min', 'default request'],
  },
  {
    less: 'defaultRequest',
    more: 'max',
    at: 'defaultRequest',
    shown: 'defaultRequest',
    named: ['default request', 'max'],
  },
  {
    less: 'defaultRequest',
    more: 'default',
    at: 'defaultRequest',
    shown: 'defaultRequest',
    named: ['default request', 'default limit'],
  },
  { less: 'min', more: 'default', at: 'default', shown: 'min', named: ['min', 'default'] },
  { less: 'default', more: 'max', at: 'default', shown: 'max', named: ['default', 'max'] },
];

function* validateAmounts(limit: LimitRangeItem, path: string): Generator<Cause> {
  const isPod = limit.type === 'Pod';
  const { max, min, maxLimitRequestRatio } = limit;
  const lists = { max, min, default: isPod ? {} : limit.default, defaultRequest: isPod ? {} : limit.defaultRequest };
  const names = new Set([...Object.values(lists), maxLimitRequestRatio].flatMap((list) => Object.keys(list ?? {})));
  for (const name of names) {
    const amount = (field: Field) => amountOf(lists[field], name);
    for (const { less, more, at, shown, named } of orders) {
      const [low, high] = [amount(less), amount(more)];
      if (low === undefined || high === undefined) continue;
      if (compareQuantities(parseQuantity(low), parseQuantity(high)) <= 0) continue;
      const detail = `${named[0]} value ${low} is greater than ${named[1]} value ${high}`;
      yield invalidBare(`${path}.${at}[${name}]`, goQuantity(amount(shown)!), detail);
    }
    const ratio = amountOf(maxLimitRequestRatio, name);
    if (ratio !== undefined)
      yield* validateRatio(ratio, amount('min'), amount('max'), `${path}.maxLimitRequestRatio[${name}]`);
    const [limited, requested] = [amount('default'), amount('defaultRequest')];
    if (isOvercommitAllowed(name) || limited === undefined || requested === undefined) continue;
    if (compareQuantities(parseQuantity(limited), parseQuantity(requested)) !== 0) {
      const detail = `default value ${limited} must equal to defaultRequest value ${requested} in ${name}`;
      yield invalidBare(`${path}.defaultRequest[${name}]`, goQuantity(requested), detail);
    }
  }
}

const one = parseQuantity('1');

function* validateRatio(
  ratio: string,
  min: string | undefined,
  max: string | undefined,
  path: string,
): Generator<Cause> {
  const wanted = parseQuantity(ratio);
  if (compareQuantities(wanted, one) < 0) yield invalidBare(path, goQuantity(ratio), `ratio ${ratio} is less than 1`);
  if (min === undefined || max === undefined) return;
  const thousandths = (quantity: Quantity) => Number(scaledValue(quantity, MILLI));
  const possible = thousandths(parseQuantity(max)) / thousandths(parseQuantity(min));
  if (thousandths(wanted) / 1000 > possible) {
    yield invalidBare(path, goQuantity(ratio), `ratio ${ratio} is greater than max/min = ${possible.toFixed(6)}`);
  }
}

/** Returns an own property of a list: `__proto__` is a name like any other, and every object would inherit it. */
function amountOf(list: { readonly [name: string]: string } | null | undefined, name: string): string | undefined {
  return list && Object.hasOwn(list, name) ? list[name] : undefined;
}
