/** Minimal ImagePullJobs, NodeImages and Secrets for tests. */
import type { Secret } from '@kruise/api/core/secret';
import type { ImagePullJob, ImagePullJobStatus } from '@kruise/api/kruise/imagepulljob';
import type { ImageSpec, ImageTagSpec, ImageTagStatus, NodeImage, NodeImageStatus } from '@kruise/api/kruise/nodeimage';
import { formatTime, instantOf } from '@kruise/values/time';
import type { Settings } from './decide.ts';

export const now = instantOf(2026, 1, 1, 12);
export const ago = (seconds: number) => formatTime(now - seconds * 1000);
export const settings: Settings = { daemonConfigNamespace: 'kruise-daemon-config', alwaysNodeImageTtlSeconds: 300 };
export const image = { name: 'app', tag: 'v1' };

type JobParts = { readonly metadata?: ImagePullJob['metadata']; readonly status?: Partial<ImagePullJobStatus> };

/** Builds a job with its finalizer. */
export function job(spec: Partial<ImagePullJob['spec']> = {}, { metadata, status }: JobParts = {}): ImagePullJob {
  return {
    apiVersion: 'apps.kruise.io/v1beta1',
    kind: 'ImagePullJob',
    metadata: {
      name: 'pull',
      namespace: 'default',
      uid: 'u',
      finalizers: ['apps.kruise.io/deletion-protection'],
      ...metadata,
    },
    spec: { image: 'app:v1', completionPolicy: { type: 'Always' }, ...spec },
    ...(status ? { status: { desired: 0, active: 0, succeeded: 0, failed: 0, ...status } } : {}),
  };
}

export function owner(uid: string) {
  return { apiVersion: 'apps.kruise.io/v1beta1', kind: 'ImagePullJob', namespace: 'default', name: 'pull', uid };
}

/** Builds a NodeImage with the image in its spec, and the phase in its status. */
export function nodeImageWithTag(
  name: string,
  phase?: ImageTagStatus['phase'],
  tag: Partial<ImageTagSpec> = {},
): NodeImage {
  const spec = { tag: 'v1', ownerReferences: [owner('u')], version: 0, ...tag };
  const reported = phase ? [{ tag: 'v1', phase, version: spec.version }] : [];
  return nodeImage(name, { tags: [spec] }, reported);
}

export function nodeImage(name: string, app?: ImageSpec, reported: readonly ImageTagStatus[] = []): NodeImage {
  return {
    apiVersion: 'apps.kruise.io/v1beta1',
    kind: 'NodeImage',
    metadata: { name, resourceVersion: '1' },
    spec: app ? { images: { app } } : {},
    ...(reported.length > 0 ? { status: nodeStatus(reported) } : {}),
  };
}

/** Builds a NodeImage status with tags of the image. */
export function nodeStatus(tags: readonly ImageTagStatus[]): NodeImageStatus {
  return { desired: 1, succeeded: 0, failed: 0, pulling: 0, waiting: 0, imageStatuses: { app: { tags } } };
}

export function secret(name: string, metadata: Secret['metadata'] = {}, data = { a: 'Yg==' }): Secret {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, namespace: 'default', ...metadata },
    type: 'Opaque',
    data,
  };
}

/** Builds a copy of a Secret that jobs use. */
export function copy(
  name: string,
  source: string,
  users: readonly string[],
  metadata: Secret['metadata'] = {},
): Secret {
  return secret(name, {
    namespace: settings.daemonConfigNamespace,
    resourceVersion: '1',
    ...metadata,
    annotations: {
      'imagepulljobs.kruise.io/source-key': source,
      'imagepulljobs.kruise.io/references': users.join(','),
      'imagepulljobs.kruise.io/mode': 'batch',
    },
  });
}
