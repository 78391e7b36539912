import { type KindFacts, type KindObject, kind } from '@kruise/api/meta/kind';
import type { Kind } from '@kruise/schema/kind';

/** What has to be known of a kind to reach its objects. */
export type DynamicKindFacts = Omit<KindFacts<Record<never, never>>, 'fields'>;

/** A kind nothing is known of but what all kinds have in common: its objects are read as type and metadata. */
export type DynamicKind = Kind<KindObject<Record<never, never>>>;

/**
 * A kind that was not known when the program was written: one that discovery tells of, say. It can be listed, watched
 * and written like any other; what is in its objects beyond their metadata is theirs to know.
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
