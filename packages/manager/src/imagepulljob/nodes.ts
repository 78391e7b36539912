/** Nodes of an ImagePullJob. */
import { type Pod, pod } from '@kruise/api/core/pod';
import type { ImagePullJob } from '@kruise/api/kruise/imagepulljob';
import { type NodeImage, nodeImage } from '@kruise/api/kruise/nodeimage';
import type { Caches } from '@kruise/client/informer';
import { selectorOf } from '@kruise/machinery/label-selector';
import { isPodActive } from '@kruise/machinery/pods';

export function nodeImagesFor(caches: Caches, job: ImagePullJob): readonly NodeImage[] {
  const all = caches.of(nodeImage);
  const { podSelector, selector } = job.spec;
  if (podSelector) return nodeImagesByName(caches, nodesWithPods(caches, job));
  if (!selector) return all.list();
  if (selector.names) return nodeImagesByName(caches, selector.names);
  const { matches } = selectorOf(selector);
  return all.list().filter(({ metadata }) => matches(metadata.labels));
}

function nodeImagesByName(caches: Caches, names: Iterable<string>): readonly NodeImage[] {
  return [...names].flatMap((name) => caches.of(nodeImage).get(name) ?? []);
}

function nodesWithPods(caches: Caches, job: ImagePullJob): ReadonlySet<string> {
  const { namespace = '' } = job.metadata;
  const { matches } = selectorOf(job.spec.podSelector);
  const pods = caches.of(pod).list({ namespace });
  const active = pods.filter((each) => each.spec?.nodeName && matches(each.metadata.labels) && isPodActive(each));
  return new Set(active.map(nodeNameOf));
}

function nodeNameOf({ spec }: Pod): string {
  return spec?.nodeName ?? '';
}

/**
 * Reports whether a job may select a node. Always true with a Pod selector: a lookup of the Pods costs more than an
 * unneeded reconcile.
 */
export function maySelect({ spec: { selector, podSelector } }: ImagePullJob, { metadata }: NodeImage): boolean {
  if (podSelector || !selector) return true;
  return selector.names ? selector.names.includes(metadata.name ?? '') : selectorOf(selector).matches(metadata.labels);
}
