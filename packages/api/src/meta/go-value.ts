/**
 * Values that Kubernetes prints in messages as Go structs, not as JSON. Names and order of the members are those of the
 * JSON, capitalized. Pointers and empty members, which Kubernetes prints too, are omitted because they are not
 * informative.
 */
import { type Cause, duplicate, invalid, notSupported } from '@kruise/schema/field-error';
import { formatGoSyntax, goStringMap, quote } from '@kruise/values/go-syntax';

/** `Invalid value: v1.LabelSelector{…}: detail`. */
export function invalidStructure(field: string, type: string, value: unknown, detail: string): Cause {
  return { ...invalid(field, '', ''), message: withDetail(`Invalid value: ${goStructure(type, value)}`, detail) };
}

/** `Unsupported value: apps.DeploymentStrategy{…}: supported values: …`. */
export function unsupportedStructure(field: string, type: string, value: unknown, known: readonly string[]): Cause {
  const cause = notSupported(field, '', known);
  return { ...cause, message: cause.message.replace('""', () => goStructure(type, value)) };
}

/** `Invalid value: map[string]string{"app":"x"}: detail`. */
export function invalidStringMap(
  field: string,
  map: { readonly [key: string]: string } | undefined,
  detail: string,
): Cause {
  const text = map === undefined ? 'map[string]string(nil)' : goStringMap(map);
  return { ...invalid(field, '', ''), message: withDetail(`Invalid value: ${text}`, detail) };
}

/** `Invalid value: intstr.IntOrString{Type:1, IntVal:0, StrVal:"x"}: detail`. */
export function invalidIntOrString(field: string, value: number | string, detail: string): Cause {
  return invalidBare(field, goIntOrString(value), detail);
}

/** `Invalid value: []intstr.IntOrString{…}: detail`. */
export function invalidIntOrStrings(field: string, values: readonly (number | string)[], detail: string): Cause {
  return invalidBare(field, `[]intstr.IntOrString{${values.map(goIntOrString).join(', ')}}`, detail);
}

function goIntOrString(value: number | string): string {
  const [type, integer, text] = typeof value === 'number' ? [0, value, ''] : [1, 0, value];
  return `intstr.IntOrString{Type:${type}, IntVal:${integer}, StrVal:${quote(text)}}`;
}

/** `Invalid value: cpu: detail`, for resource names, which format themselves. */
export function invalidBare(field: string, text: string, detail: string): Cause {
  return { ...invalid(field, '', ''), message: withDetail(`Invalid value: ${text}`, detail) };
}

/** `Invalid value: 2026-01-01 00:00:00 +0000 UTC: detail`, for times, which format themselves too. */
export function invalidTime(field: string, time: string, detail: string): Cause {
  return invalidBare(field, `${time.replace('T', ' ').replace(/(\.0*|(\.\d*[1-9])0*)?Z$/, '$2')} +0000 UTC`, detail);
}

/** `Duplicate value: cpu`, for resource names. */
export function duplicateBare(field: string, text: string): Cause {
  return { ...duplicate(field, ''), message: `Duplicate value: ${text}` };
}

/** `Unsupported value: cpu: supported values: …`, for resource names. */
export function unsupportedBare(field: string, text: string, known: readonly string[]): Cause {
  const cause = notSupported(field, '', known);
  return { ...cause, message: cause.message.replace('""', () => text) };
}

/** `Invalid value: detail`, without the value. */
export function invalidWithoutValue(field: string, detail: string): Cause {
  return { ...invalid(field, '', ''), message: `Invalid value: ${detail}` };
}

function goStructure(type: string, value: unknown): string {
  if (value === undefined || value === null) return '"null"';
  if (Array.isArray(value))
    return `[]${type}{${value.map((item) => (item === null ? 'nil' : members(item))).join(', ')}}`;
  return `${type}${members(value)}`;
}

function members(value: unknown): string {
  const shown = Object.entries(value as object).map(
    ([name, member]) => `${name[0]!.toUpperCase()}${name.slice(1)}:${formatGoSyntax(member)}`,
  );
  return `{${shown.join(', ')}}`;
}

function withDetail(head: string, detail: string): string {
  return detail === '' ? head : `${head}: ${detail}`;
}
