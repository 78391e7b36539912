/**
 * Validates values against a schema: types, limits, formats, patterns, alternatives. A schema is compiled lazily into
 * one closure per node. Without a report, the closure returns at the first error and allocates nothing, which is the
 * path of every valid object. Only an invalid object is walked again, to report every error.
 */

import { formatNumber } from '@kruise/values/go-syntax';
import { RE2JS } from 're2js';
import type { Cause } from '../field-error.ts';
import type { Correlation } from './correlate.ts';
import { formatCheck } from './formats.ts';
import { additionalOf, isSame, itemsOf, type JsonObject, type JsonSchema } from './json-schema.ts';
import { Report } from './report.ts';

/** Returns all errors of a value; `origin` is its path if it is part of a larger object. */
export type Validate = (value: unknown, options?: ValidateOptions) => Cause[];

/** Context of the value. */
export type ValidateOptions = {
  /** Prefix of the path of every cause. */
  readonly origin?: string;
  /** Correlation with the old value: errors in unchanged values are not reported. */
  readonly correlation?: Correlation | undefined;
};

/** Returns the validation of a schema's values. */
export function validator(schema: JsonSchema): Validate {
  const check = checkOf(schema);
  return (value, { origin = '', correlation } = {}) => {
    if (check(value, undefined, undefined)) return [];
    const report = new Report(origin, '');
    check(value, report, correlation);
    return correlation?.isUnchanged ? [] : report.causes;
  };
}

/**
 * Returns whether a value is valid. With a report, all errors are reported, and the number of checks measures how far
 * validation got.
 */
type Check = (value: unknown, report: Report | undefined, correlation: Correlation | undefined) => boolean;

type Kind = 'null' | 'boolean' | 'string' | 'integer' | 'number' | 'array' | 'object';

/**
 * Returns the type of a value. Whole numbers are integers as long as JSON parsers agree on them; larger ones are
 * bigints.
 */
function kindOf(value: unknown): Kind {
  switch (typeof value) {
    case 'string':
      return 'string';
    case 'number':
      return Number.isSafeInteger(value) ? 'integer' : 'number';
    case 'bigint':
      return 'integer';
    case 'boolean':
      return 'boolean';
    default:
      return value === null || value === undefined ? 'null' : Array.isArray(value) ? 'array' : 'object';
  }
}

/** A schema with its check, compiled on first use. */
class LazyCheck {
  readonly #schema: JsonSchema;
  #check: Check | undefined;

  constructor(schema: JsonSchema) {
    this.#schema = schema;
  }

  get check(): Check {
    return (this.#check ??= checkOf(this.#schema));
  }
}

/**
 * Returns the check of a schema. Its parts have the order of Kubernetes, which determines the order of errors, and they
 * count checks like Kubernetes.
 */
function checkOf(schema: JsonSchema): Check {
  const checkType = typeCheck(schema);
  const checkAlternatives = alternativesCheck(schema);
  const checkText = textCheck(schema);
  const isFormat = schema.format === undefined ? undefined : formatCheck(schema.format);
  const checkNumber = numberCheck(schema);
  const checkList = listCheck(schema);
  const checkObject = objectCheck(schema);
  const checkMembership = membershipCheck(schema);

  return (value, report, correlation) => {
    const kind = kindOf(value);
    let isValid = true;
    if (checkType && !checkType(value, kind, report)) {
      if (!report) return false;
      isValid = false;
    }
    if (kind === 'null') return (!checkMembership || checkMembership(value, report, correlation)) && isValid;

    if (checkAlternatives && !checkAlternatives(value, report, correlation)) {
      if (!report) return false;
      isValid = false;
    }
    const checkKind =
      kind === 'object'
        ? checkObject
        : kind === 'array'
          ? checkList
          : kind === 'string'
            ? checkText
            : kind === 'boolean'
              ? undefined
              : checkNumber;
    if (checkKind && !checkKind(value, report, correlation)) {
      if (!report) return false;
      isValid = false;
    }
    if (isFormat && kind === 'string' && !isFormat(value as string)) {
      if (!report) return false;
      isValid = false;
      report.wrongType(schema.format!, value as string);
    }
    if (checkMembership && !checkMembership(value, report, correlation)) isValid = false;
    if (report) {
      report.checks += kind === 'boolean' ? 4 : kind === 'string' || kind === 'object' ? 5 : 6;
      if (isFormat && kind === 'string') report.checks++;
    }
    return isValid;
  };
}

function typeCheck(
  schema: JsonSchema,
): ((value: unknown, kind: Kind, report: Report | undefined) => boolean) | undefined {
  const types = schema['x-kubernetes-int-or-string'] ? ['integer', 'string'] : schema.type ? [schema.type] : [];
  const format = schema.format !== undefined && formatCheck(schema.format) ? schema.format : undefined;
  if (types.length === 0 && format === undefined) return undefined;
  const isNumeric = types.includes('integer') || types.includes('number');

  const holds = (value: unknown, kind: Kind): boolean => {
    if (types.includes(kind)) return true;
    if (kind === 'null') return types.length === 0 || schema.nullable === true;
    if (kind === 'integer') return types.includes('number');
    if (kind === 'number') return types.includes('integer') && isNearlyWhole(value as number);
    // A format skips the other checks of strings and, by a bug that clients rely on, of lists.
    return format !== undefined && !isNumeric && (kind === 'string' || kind === 'array');
  };

  return (value, kind, report) => {
    const isHeld = holds(value, kind);
    if (!report) return isHeld;
    if (isHeld) report.checks += kind === 'null' ? 1 : 2;
    else if (format !== undefined && kind !== 'null' && kind !== 'string' && kind !== 'array') {
      report.wrongType(format, kind === 'integer' ? 'int64' : kind === 'number' ? 'float64' : '');
    } else report.wrongType(types.join(), kind);
    if (!isHeld && kind !== 'null') report.checks++;
    return isHeld;
  };
}

/** Returns whether a fraction is a rounding error of a whole number. */
function isNearlyWhole(value: number): boolean {
  if (!(Math.abs(value) <= Number.MAX_SAFE_INTEGER) || value < 0) return false;
  const whole = Math.trunc(value);
  return whole !== 0 && (value - whole) / (value + whole) < 1e-9;
}

function alternativesCheck(schema: JsonSchema): Check | undefined {
  const compile = (schemas: readonly JsonSchema[] = []) => schemas.map((each) => new LazyCheck(each));
  const [anyOf, oneOf, allOf] = [compile(schema.anyOf), compile(schema.oneOf), compile(schema.allOf)];
  const not = schema.not && new LazyCheck(schema.not);
  if (anyOf.length + oneOf.length + allOf.length === 0 && !not) return undefined;

  const holds = (value: unknown): boolean => {
    const isHeld = ({ check }: LazyCheck) => check(value, undefined, undefined);
    if (anyOf.length > 0 && !anyOf.some(isHeld)) return false;
    if (oneOf.length > 0 && oneOf.filter(isHeld).length !== 1) return false;
    return allOf.every(isHeld) && !(not && isHeld(not));
  };
  // Unchanged values are ignored only outside of alternatives: inside, an additional alternative could match.
  return (value, report) => {
    if (!report) return holds(value);
    const attempts = (checks: readonly LazyCheck[]) =>
      checks.map(({ check }) => {
        const branch = report.branch();
        return { isValid: check(value, branch, undefined), branch };
      });
    const isAny = anyOf.length === 0 || reportAny(report, attempts(anyOf));
    const isOne = oneOf.length === 0 || reportOne(report, attempts(oneOf));
    const isAll = allOf.length === 0 || reportAll(report, attempts(allOf));
    const isNot = !not?.check(value, report.branch(), undefined);
    if (!isNot) report.composite('must not validate the schema (not)');
    return isAny && isOne && isAll && isNot;
  };
}

type Attempt = { readonly isValid: boolean; readonly branch: Report };

function reportAny(report: Report, attempts: readonly Attempt[]): boolean {
  const first = attempts.find(({ isValid }) => isValid);
  if (!first) report.composite('must validate at least one schema (anyOf)');
  report.merge((first ?? furthest(attempts)).branch);
  return first !== undefined;
}

function reportOne(report: Report, attempts: readonly Attempt[]): boolean {
  const valid = attempts.filter(({ isValid }) => isValid);
  if (valid.length === 0) {
    report.composite('must validate one and only one schema (oneOf). Found none valid');
    report.merge(furthest(attempts).branch);
  } else if (valid.length > 1) {
    report.composite(`must validate one and only one schema (oneOf). Found ${valid.length} valid alternatives`);
  } else report.merge(valid[0]!.branch);
  return valid.length === 1;
}

function reportAll(report: Report, attempts: readonly Attempt[]): boolean {
  for (const { branch } of attempts) report.merge(branch);
  const validCount = attempts.filter(({ isValid }) => isValid).length;
  if (validCount === attempts.length) return true;
  report.composite(`must validate all the schemas (allOf)${validCount === 0 ? '. None validated' : ''}`);
  return false;
}

function furthest(attempts: readonly Attempt[]): Attempt {
  return attempts.reduce((best, each) => (each.branch.checks > best.branch.checks ? each : best));
}

function textCheck({ maxLength, minLength, pattern }: JsonSchema): Check | undefined {
  if (maxLength === undefined && minLength === undefined && !pattern) return undefined;
  let regexp: RE2JS | undefined;
  return (value, report) => {
    const text = value as string;
    if (maxLength !== undefined && text.length > maxLength && lengthOf(text) > maxLength) {
      report?.tooLong(maxLength);
      return false;
    }
    if (minLength !== undefined && text.length < 2 * minLength && lengthOf(text) < minLength) {
      report?.invalid(text, `should be at least ${minLength} chars long`);
      return false;
    }
    if (!pattern) return true;
    regexp ??= RE2JS.compile(pattern);
    if (regexp.test(text)) return true;
    report?.invalid(text, `should match '${pattern}'`);
    return false;
  };
}

/** Returns the length in characters, not UTF-16 units. */
function lengthOf(text: string): number {
  let length = 0;
  for (const _ of text) length++;
  return length;
}

function numberCheck(schema: JsonSchema): Check | undefined {
  const { minimum, maximum, multipleOf } = schema;
  if (minimum === undefined && maximum === undefined && multipleOf === undefined) return undefined;
  const isTooSmall = (value: number | bigint, limit: number) =>
    schema.exclusiveMinimum ? value <= limit : value < limit;
  const isTooLarge = (value: number | bigint, limit: number) =>
    schema.exclusiveMaximum ? value >= limit : value > limit;
  return (value, report) => {
    const number = value as number | bigint;
    // An integer is compared with the integral part of a limit.
    const limitOf = (limit: number) => (kindOf(number) === 'integer' ? Math.trunc(limit) : limit);
    let isValid = true;
    const fail = (claim: string, limit: number) => {
      isValid = false;
      report?.invalid(number, `${claim} ${formatNumber(limit)}`);
    };
    if (multipleOf !== undefined) {
      const factor = limitOf(multipleOf);
      if (factor <= 0) {
        isValid = false;
        report?.impossibleFactor(factor);
      } else if (!isMultiple(number, factor)) fail('should be a multiple of', factor);
    }
    if (minimum !== undefined && isTooSmall(number, limitOf(minimum))) {
      fail(`should be greater than${schema.exclusiveMinimum ? '' : ' or equal to'}`, limitOf(minimum));
    }
    if (maximum !== undefined && isTooLarge(number, limitOf(maximum))) {
      fail(`should be less than${schema.exclusiveMaximum ? '' : ' or equal to'}`, limitOf(maximum));
    }
    return isValid;
  };
}

function isMultiple(value: number | bigint, factor: number): boolean {
  if (typeof value === 'bigint') return value % BigInt(factor) === 0n;
  if (Number.isSafeInteger(value) && Number.isInteger(factor)) return value % factor === 0;
  const quotient = factor < 1 ? (1 / factor) * value : value / factor;
  return Number.isSafeInteger(quotient) || isNearlyWhole(quotient);
}

function listCheck(schema: JsonSchema): Check | undefined {
  const { minItems, maxItems } = schema;
  const itemSchema = itemsOf(schema);
  if (minItems === undefined && maxItems === undefined && itemSchema === undefined) return undefined;
  const items = itemSchema && new LazyCheck(itemSchema);
  return (value, report, correlation) => {
    const list = value as readonly unknown[];
    let isValid = true;
    if (items) {
      const { check } = items;
      for (let index = 0; index < list.length; index++) {
        if (!report) {
          if (!check(list[index], undefined, undefined)) return false;
        } else if (!checkPart(check, list[index], `${report.path}[${index}]`, report, correlation?.item(index))) {
          isValid = false;
        }
      }
    }
    if (minItems !== undefined && list.length < minItems) {
      report?.invalid(list.length, `should have at least ${minItems} items`);
      isValid = false;
    }
    if (maxItems !== undefined && list.length > maxItems) {
      report?.tooMany(list.length, maxItems);
      isValid = false;
    }
    return isValid;
  };
}

function objectCheck(schema: JsonSchema): Check | undefined {
  const { minProperties, maxProperties, required = [], additionalProperties } = schema;
  const properties = new Map(
    Object.entries(schema.properties ?? {}).map(([name, property]) => [name, new LazyCheck(property)]),
  );
  const additionalSchema = additionalOf(schema);
  const additional = additionalSchema && new LazyCheck(additionalSchema);
  const isClosed = additionalProperties === false;
  const looksInside = properties.size > 0 || additional !== undefined || isClosed;
  const counts = minProperties !== undefined || maxProperties !== undefined;
  if (!looksInside && !counts && required.length === 0) return undefined;

  const checkCount = (count: number, report: Report | undefined): boolean => {
    const isTooSmall = minProperties !== undefined && count < minProperties;
    const isTooLarge = maxProperties !== undefined && count > maxProperties;
    if (isTooSmall) report?.invalid(count, `should have at least ${minProperties} properties`);
    if (isTooLarge) report?.tooMany(count, maxProperties);
    return !isTooSmall && !isTooLarge;
  };

  return (value, report, correlation) => {
    const object = value as JsonObject;
    let isValid = !counts || checkCount(Object.keys(object).length, report);
    if (!isValid && !report) return false;
    if (looksInside) {
      for (const name in object) {
        const property = properties.get(name);
        const lazy = property ?? additional;
        if (lazy === undefined) {
          if (!isClosed) continue;
          isValid = false;
          if (!report) return false;
          report.forbidden(name);
        } else if (!report) {
          if (!lazy.check(object[name], undefined, undefined)) return false;
        } else {
          const path = property && report.path === '' ? name : `${report.path}.${name}`;
          if (!checkPart(lazy.check, object[name], path, report, old(correlation, report, name))) isValid = false;
        }
      }
    }
    for (const name of required) {
      if (Object.hasOwn(object, name)) continue;
      if (!report) return false;
      report.missing(name);
      isValid = false;
    }
    return isValid;
  };
}

/**
 * Returns the correlation of a property. Both objects have the requested version, so kind and apiVersion count as
 * unchanged.
 */
function old(correlation: Correlation | undefined, report: Report, name: string): Correlation | undefined {
  return report.path === '' && (name === 'kind' || name === 'apiVersion') ? undefined : correlation?.property(name);
}

/** Checks a part of a value; errors of an unchanged part are ignored. */
function checkPart(
  check: Check,
  value: unknown,
  path: string,
  report: Report,
  correlation: Correlation | undefined,
): boolean {
  const part = report.branch(path);
  const isValid = check(value, part, correlation);
  if (isValid || !correlation?.isUnchanged) {
    report.merge(part);
    return isValid;
  }
  report.checks += part.checks;
  return true;
}

function membershipCheck({ enum: values }: JsonSchema): Check | undefined {
  if (!values?.length) return undefined;
  const scalars = new Set(values.filter((each) => typeof each !== 'object'));
  const compounds = values.filter((each) => typeof each === 'object' && each !== null);
  return (value, report) => {
    if (scalars.has(value) || compounds.some((each) => isSame(each, value))) return true;
    // As in Go, a fraction is truncated before it is compared with an integer.
    if (typeof value === 'number' && scalars.has(Math.trunc(value))) return true;
    report?.unsupported(value, values);
    return false;
  };
}
