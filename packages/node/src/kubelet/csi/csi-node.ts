/** Registration of CSI drivers at the API: the CSINode object, and the annotation and labels of the Node. */
import { type Node, node as nodeKind } from '@kruise/api/core/node';
import { type CSINode, type CSINodeDriver, csiNode } from '@kruise/api/storage/csinode';
import type { Client } from '@kruise/client/client';
import { isAlreadyExists, isConflict, isNotFound } from '@kruise/machinery/status';
import { stringify } from '@kruise/values/go-json';

/** Facts that a driver reports about this node. */
export type DriverNode = {
  readonly name: string;
  readonly nodeId: string;
  /** 0: no limit. */
  readonly maxVolumes: number;
  readonly topology: { readonly [label: string]: string };
};

const nodeIdAnnotation = 'csi.volume.kubernetes.io/nodeid';
const maxAttempts = 10;

/** Returns the drivers of a CSINode with one added or replaced. */
export function withDriver(drivers: readonly CSINodeDriver[], added: DriverNode): CSINodeDriver[] {
  const topologyKeys = Object.keys(added.topology).sort();
  const entry: CSINodeDriver = {
    name: added.name,
    nodeID: added.nodeId,
    ...(topologyKeys.length > 0 ? { topologyKeys } : {}),
    ...(added.maxVolumes > 0 ? { allocatable: { count: added.maxVolumes } } : {}),
  };
  return [...drivers.filter(({ name }) => name !== added.name), entry];
}

/** Returns the annotation of a Node with the IDs that drivers know it by. A foreign value is replaced. */
export function nodeIdsOf(annotation: string | undefined, name: string, id: string | undefined): string | undefined {
  let ids: { [driver: string]: unknown } = {};
  try {
    const parsed: unknown = JSON.parse(annotation ?? '{}');
    if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) ids = { ...parsed };
  } catch {
    // The annotation belongs to the kubelet; a value that is no JSON is of no use to anyone.
  }
  if (id === undefined) delete ids[name];
  else ids[name] = id;
  return Object.keys(ids).length === 0 ? undefined : stringify(ids);
}

/** Publishes a driver: first the Node, whose labels the scheduler needs once the CSINode has the driver. */
export async function publishDriver(client: Client, nodeName: string, driver: DriverNode): Promise<void> {
  await patchNode(client, nodeName, ({ metadata: { annotations = {} } }) => ({
    annotations: { [nodeIdAnnotation]: nodeIdsOf(annotations[nodeIdAnnotation], driver.name, driver.nodeId) ?? null },
    labels: driver.topology,
  }));
  await changeCsiNode(client, nodeName, (drivers) => withDriver(drivers, driver));
}

/** Removes a driver from the CSINode and the Node. Labels stay: volumes are bound to them. */
export async function withdrawDriver(client: Client, nodeName: string, name: string): Promise<void> {
  await changeCsiNode(client, nodeName, (drivers) => drivers.filter((each) => each.name !== name));
  await patchNode(client, nodeName, ({ metadata: { annotations = {} } }) => ({
    annotations: { [nodeIdAnnotation]: nodeIdsOf(annotations[nodeIdAnnotation], name, undefined) ?? null },
  }));
}

type Metadata = {
  readonly annotations?: { readonly [key: string]: string | null };
  readonly labels?: { readonly [key: string]: string };
};

async function patchNode(client: Client, name: string, change: (node: Node) => Metadata): Promise<void> {
  await onConflict(async () => {
    const found = await client.get(nodeKind, { name });
    const { resourceVersion = '' } = found.metadata;
    await client.patch(nodeKind, { name }, { metadata: { ...change(found), resourceVersion } }, { type: 'merge' });
  });
}

async function changeCsiNode(
  client: Client,
  name: string,
  change: (drivers: readonly CSINodeDriver[]) => CSINodeDriver[],
): Promise<void> {
  await onConflict(async () => {
    const found = await client.get(csiNode, { name }).catch((error: unknown) => {
      if (isNotFound(error)) return undefined;
      throw error;
    });
    if (found) {
      // The API server writes an empty list as null.
      await client.update(csiNode, { ...found, spec: { drivers: change(found.spec.drivers ?? []) } });
      return;
    }
    const { metadata } = await client.get(nodeKind, { name });
    const owner = { apiVersion: 'v1', kind: 'Node', name, uid: metadata.uid ?? '' };
    const object: CSINode = {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'CSINode',
      metadata: { name, ownerReferences: [owner] },
      spec: { drivers: change([]) },
    };
    await client.create(csiNode, object);
  });
}

/** Other writers of the same object are few: the work is repeated on the newest version. */
async function onConflict(work: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await work();
      return;
    } catch (error) {
      if (attempt === maxAttempts || !(isConflict(error) || isAlreadyExists(error))) throw error;
    }
  }
}
