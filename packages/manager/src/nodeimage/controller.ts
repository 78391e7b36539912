import { type Node, node } from '@kruise/api/core/node';
import type { ObjectReference } from '@kruise/api/core/reference';
import { secret } from '@kruise/api/core/secret';
import { type ImagePullJob, imagePullJob } from '@kruise/api/kruise/imagepulljob';
import { type NodeImage, nodeImage } from '@kruise/api/kruise/nodeimage';
import { appsGroup } from '@kruise/api/kruise/well-known';
import { isBeingDeleted } from '@kruise/client/actions';
import { type Controller, defineController, watch } from '@kruise/client/controller';
import type { Caches, Change } from '@kruise/client/informer';
import { type Key, keyOf } from '@kruise/client/object-key';
import { isSame } from '@kruise/machinery/json-value';
import { groupOf } from '@kruise/schema/kind';
import { type ManagerSettings, workSettings } from '../configuration/settings.ts';
import { isVirtualNode, readyTimeOf } from '../workload/nodes.ts';
import { decide, type Observed } from './decide.ts';

export function nodeImageController(settings: ManagerSettings): Controller {
  return defineController({
    ...workSettings(settings, 'nodeimage'),
    for: nodeImage,
    watches: [watch(node, nodeImagesOfNode), watch(imagePullJob, nodeImagesOfDeletedJob)],
    uses: [secret],
    observe,
    decide: (observed, now) => decide(observed, settings, now),
  });
}

function observe(caches: Caches, name: Key): Observed | undefined {
  const found = caches.of(node).get(name);
  const existing = caches.of(nodeImage).get(name);
  if (!existing && (!found || isVirtualNode(found))) return undefined;
  return {
    name,
    node: found && !isBeingDeleted(found) ? found : undefined,
    nodeImage: existing,
    ownerExists: (owner) => ownerExists(caches, owner),
    hasSecret: ({ namespace = '', name: secretName = '' }) =>
      caches.of(secret).get({ namespace, name: secretName }) !== undefined,
  };
}

function ownerExists(
  caches: Caches,
  { apiVersion = '', kind, namespace = '', name = '', uid }: ObjectReference,
): boolean {
  if (groupOf(apiVersion) !== appsGroup || kind !== imagePullJob.kind) return true;
  return caches.of(imagePullJob).get({ namespace, name })?.metadata.uid === uid;
}

/** Ignores the heartbeats of a node: only its creation, deletion and labels count. */
function nodeImagesOfNode({ type, object }: Change<Node>, caches: Caches): readonly Key[] {
  if (isVirtualNode(object)) return [];
  const { name = '', labels = {} } = object.metadata;
  const present = caches.of(nodeImage).get(name);
  const isGone = type === 'deleted' || isBeingDeleted(object);
  const isRelevant = present
    ? isGone || !isSame(present.metadata.labels ?? {}, labels)
    : !isGone && readyTimeOf(object) !== undefined;
  return isRelevant ? [name] : [];
}

function nodeImagesOfDeletedJob({ type, object }: Change<ImagePullJob>, caches: Caches): readonly Key[] {
  if (type !== 'deleted') return [];
  return caches
    .of(nodeImage)
    .byIndex(byOwner, object.metadata.uid ?? '')
    .map(keyOf);
}

/** Index of NodeImages by the UIDs of jobs that own a tag. */
function byOwner({ spec }: NodeImage): readonly string[] {
  const tags = Object.values(spec.images ?? {}).flatMap((image) => image.tags);
  return [...new Set(tags.flatMap(({ ownerReferences = [] }) => ownerReferences.flatMap(({ uid }) => uid ?? [])))];
}
