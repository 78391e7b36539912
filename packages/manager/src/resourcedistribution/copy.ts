/** Copies of a distributed resource. */
import { createHash } from 'node:crypto';
import type { ConfigMap } from '@kruise/api/core/configmap';
import type { Secret } from '@kruise/api/core/secret';
import type { ResourceDistribution } from '@kruise/api/kruise/resourcedistribution';
import { distributedFromAnnotation, distributedHashAnnotation } from '@kruise/api/kruise/well-known';
import { isSame } from '@kruise/machinery/json-value';
import { controllerReference } from '@kruise/machinery/owner-references';
import { stringifySorted } from '@kruise/values/go-json';
import { compareStrings } from '@kruise/values/go-syntax';

export type Resource = Secret | ConfigMap;

/**
 * Builds the copy for a namespace. Labels, annotations and finalizers of an existing copy stay; other owners do not.
 */
export function copyFor(distribution: ResourceDistribution, namespace: string, live?: Resource): Resource {
  const { resource } = distribution.spec;
  const { labels, annotations, finalizers, ownerReferences = [] } = resource.metadata;
  const reference = controllerReference(distribution);
  const allFinalizers = [...new Set([...(live?.metadata.finalizers ?? []), ...(finalizers ?? [])])].sort(
    compareStrings,
  );
  const allLabels = { ...live?.metadata.labels, ...labels };
  return {
    ...resource,
    metadata: {
      ...resource.metadata,
      namespace,
      ...(Object.keys(allLabels).length > 0 ? { labels: allLabels } : {}),
      annotations: {
        ...live?.metadata.annotations,
        ...annotations,
        [distributedHashAnnotation]: hashOf(resource),
        [distributedFromAnnotation]: distribution.metadata.name ?? '',
      },
      ...(allFinalizers.length > 0 ? { finalizers: allFinalizers } : {}),
      ownerReferences: [...ownerReferences.filter(({ uid }) => uid !== reference.uid), reference],
    },
  };
}

/** Reports whether the content of a copy is up to date, without its metadata. */
export function isUpToDate(copy: Resource, resource: Resource): boolean {
  return isSame(contentOf(copy), contentOf(resource));
}

function contentOf({ metadata: _, ...content }: Resource): object {
  return content;
}

function hashOf(resource: Resource): string {
  return createHash('sha256').update(stringifySorted(resource)).digest('hex');
}
