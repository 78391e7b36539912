/**
 * Copies of pull secrets. Daemons may read Secrets in one namespace only, so the pull secrets of a job are copied to
 * that namespace: once, for all jobs that use them. An annotation of each copy lists these jobs. The copy is deleted
 * with its last job.
 */
import type { Secret } from '@kruise/api/core/secret';
import type { ImagePullJob } from '@kruise/api/kruise/imagepulljob';
import type { PullSecret } from '@kruise/api/kruise/nodeimage';
import {
  imagePullSecretModeAnnotation,
  imagePullSecretReferencesAnnotation,
  imagePullSecretSourceAnnotation,
} from '@kruise/api/kruise/well-known';
import { type Action, create, isBeingDeleted, parallelByKind, remove, type Step, update } from '@kruise/client/actions';
import { keyOf } from '@kruise/client/object-key';
import { fnv1a } from '@kruise/machinery/hash';
import { isSame } from '@kruise/machinery/json-value';
import type { Observed, Settings } from './decide.ts';

export type Claimed = {
  readonly actions: readonly Step[];
  /** Pull secrets for the NodeImages. */
  readonly references: readonly PullSecret[];
};

/** Copies the pull secrets of a job, updates copies, and releases copies that the job does not use any more. */
export function claimSecrets(observed: Observed, settings: Settings): Claimed {
  const { job, copies } = observed;
  const { daemonConfigNamespace: namespace } = settings;
  const names = [...new Set(job.spec.pullSecrets ?? [])];
  if (names.length === 0) return { actions: [], references: [] };
  if (job.metadata.namespace === namespace) {
    return { actions: [], references: names.map((name) => ({ namespace, name })) };
  }
  const usable = usableCopies(copies);
  const sources = new Set(names.map((name) => sourceKey(job, name)));
  const left = usable.filter((copy) => isUsedBy(copy, job) && !sources.has(sourceOf(copy)));
  const claims = names.map((name) => claim(observed, settings, name, usable));
  return {
    actions: parallelByKind([...left.map((copy) => release(copy, job)), ...claims.flatMap(({ actions }) => actions)]),
    references: claims.flatMap(({ references }) => references),
  };
}

/** Releases all copies that a job uses. */
export function releaseSecrets({ job, copies }: Observed, { daemonConfigNamespace }: Settings): readonly Step[] {
  if (job.metadata.namespace === daemonConfigNamespace) return [];
  const used = usableCopies(copies).filter((copy) => isUsedBy(copy, job));
  return parallelByKind(used.map((copy) => release(copy, job)));
}

/** A claimed Secret and its writes. */
type Claim = Omit<Claimed, 'actions'> & { readonly actions: readonly Action[] };

function claim(observed: Observed, settings: Settings, name: string, usable: readonly Secret[]): Claim {
  const { job, findSecret } = observed;
  const source = findSecret(name);
  // The creation of the Secret enqueues the job; meanwhile the job runs without the Secret.
  if (!source) return { actions: [], references: [] };
  const { daemonConfigNamespace: namespace } = settings;
  const copy = copyOf(sourceKey(job, name), job, usable);
  if (!copy) {
    const made = newCopy(source, observed, namespace);
    return { actions: [create(made)], references: [{ namespace, name: made.metadata.name ?? '', mode: 'batch' }] };
  }
  const { annotations = {} } = copy.metadata;
  const mode = annotations[imagePullSecretModeAnnotation];
  const { data: _former, ...rest } = copy;
  const updated = withUsers({ ...rest, ...(source.data ? { data: source.data } : {}) }, [...usersOf(copy), keyOf(job)]);
  return {
    actions: isSame(updated, copy) ? [] : [update(updated)],
    references: [{ namespace, name: copy.metadata.name ?? '', ...(mode === undefined ? {} : { mode }) }],
  };
}

/**
 * Finds the copy of a source. Usually there is only one. Of several copies, which older releases created, the job keeps
 * the one it uses.
 */
function copyOf(source: string, job: ImagePullJob, usable: readonly Secret[]): Secret | undefined {
  const copies = usable.filter((copy) => sourceOf(copy) === source);
  return copies.findLast((copy) => isUsedBy(copy, job)) ?? copies[0];
}

function usableCopies(copies: readonly Secret[]): readonly Secret[] {
  return copies
    .filter((copy) => !isBeingDeleted(copy))
    .sort((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1));
}

function newCopy(source: Secret, { job, copies }: Observed, namespace: string): Secret {
  const { labels, annotations } = source.metadata;
  const metadata = {
    namespace,
    name: nameFor(source, copies),
    ...(labels ? { labels } : {}),
    annotations: {
      ...annotations,
      [imagePullSecretSourceAnnotation]: keyOf(source),
      [imagePullSecretReferencesAnnotation]: keyOf(job),
      [imagePullSecretModeAnnotation]: 'batch',
    },
  };
  const { type, data } = source;
  return { apiVersion: 'v1', kind: 'Secret', metadata, ...(type ? { type } : {}), ...(data ? { data } : {}) };
}

const utf8 = new TextEncoder();
const longestStem = 246;

/** Returns a name that is derived from the source, so that the API server refuses to create the same copy twice. */
function nameFor(source: Secret, copies: readonly Secret[]): string {
  const taken = new Set(copies.map(({ metadata }) => metadata.name));
  const stem = (source.metadata.name ?? '').slice(0, longestStem);
  for (let attempt = 0; ; attempt++) {
    const hash = fnv1a(utf8.encode(`${keyOf(source)} ${attempt}`));
    const name = `${stem}-${(hash >>> 8).toString(16).padStart(6, '0')}`;
    if (!taken.has(name)) return name;
  }
}

/** Releases a copy, with the resourceVersion as a precondition: another job may start to use the copy. */
function release(copy: Secret, job: ImagePullJob): Action {
  const users = usersOf(copy).filter((user) => user !== keyOf(job));
  if (users.length > 0) return update(withUsers(copy, users));
  const { resourceVersion } = copy.metadata;
  return { ...remove(copy), options: { preconditions: resourceVersion === undefined ? {} : { resourceVersion } } };
}

function sourceKey({ metadata: { namespace = '' } }: ImagePullJob, name: string): string {
  return `${namespace}/${name}`;
}

function sourceOf({ metadata }: Secret): string {
  return metadata.annotations?.[imagePullSecretSourceAnnotation] ?? '';
}

/** Returns the jobs that use a copy. */
function usersOf({ metadata }: Secret): readonly string[] {
  const text = metadata.annotations?.[imagePullSecretReferencesAnnotation] ?? '';
  return text.split(',').filter((key) => /^[^/]+\/[^/]+$/.test(key));
}

function isUsedBy(copy: Secret, job: ImagePullJob): boolean {
  return usersOf(copy).includes(keyOf(job));
}

function withUsers(copy: Secret, users: readonly string[]): Secret {
  const text = [...new Set(users)].sort().join(',');
  const annotations = { ...copy.metadata.annotations, [imagePullSecretReferencesAnnotation]: text };
  return { ...copy, metadata: { ...copy.metadata, annotations } };
}
