import { type KindFacts, type KindObject, kind } from '@kruise/api/meta/kind';
import type { Kind } from '@kruise/schema/kind';

/** Properties of a kind that are necessary to access its objects. */
export type DynamicKindFacts = Omit<KindFacts<Record<never, never>>, 'fields'>;

/** A kind without a schema: its objects have a type and metadata. */
export type DynamicKind = Kind<KindObject<Record<never, never>>>;

/**
 * Returns a kind that is unknown at compile time, for example one from API discovery. Its objects can be listed,
 * watched and written like those of any other kind; only their metadata is typed.
 *
 * ```ts
 * const crontab = dynamicKind({ group: 'stable.example.com', version: 'v1', kind: 'CronTab', plural: 'crontabs', scope: 'Namespaced' });
 * await client.list(crontab, { namespace: 'default' });
 * ```
 */
export function dynamicKind(facts: DynamicKindFacts): DynamicKind {
  const { group, version, kind: name } = facts;
  return kind(`${group}.${version}.${name}`, `Objects of ${name}.`, { ...facts, fields: {} });
}
