import type { Json, JsonMembers } from './full-object.ts';

/** Path of a member in its object: member names and list indexes. */
export type MemberPath = readonly (string | number)[];

/** Returns the path of every member and list element of a value, parents first. */
export function* memberPaths(value: Json, path: MemberPath = []): Generator<MemberPath> {
  if (path.length > 0) yield path;
  if (Array.isArray(value)) {
    for (const [index, item] of (value as readonly Json[]).entries()) yield* memberPaths(item, [...path, index]);
  } else if (value !== null && typeof value === 'object') {
    for (const [name, member] of Object.entries(value as JsonMembers)) yield* memberPaths(member, [...path, name]);
  }
}

/** Returns the member at a path, if there is one. */
export function memberAt(value: Json | undefined, path: MemberPath): Json | undefined {
  let found = value;
  for (const step of path) {
    if (found === null || typeof found !== 'object') return undefined;
    found = (found as { readonly [key: string | number]: Json })[step];
  }
  return found;
}

/** Returns the value with another member at a path; `undefined` removes the member. Missing parents are created. */
export function withMember(value: Json | undefined, path: MemberPath, member: Json | undefined): Json {
  const [step, ...rest] = path;
  if (step === undefined) return member ?? null;
  if (typeof step === 'number') {
    const items = Array.isArray(value) ? [...(value as readonly Json[])] : [];
    if (rest.length === 0 && member === undefined) items.splice(step, 1);
    else items[step] = withMember(items[step], rest, member);
    return items;
  }
  const { [step]: before, ...others } = isMembers(value) ? value : {};
  if (rest.length === 0 && member === undefined) return others;
  return { ...others, [step]: withMember(before, rest, member) };
}

function isMembers(value: Json | undefined): value is JsonMembers {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
