import type { Lease } from '@kruise/api/coordination/lease';
import { componentStatus } from '@kruise/api/core/componentstatus';
import { notFound } from '@kruise/machinery/status';
import type { Core } from '../core.ts';
import type { KubeObject } from '../object.ts';
import type { VirtualResource } from '../virtual-resource.ts';
import { serializerOf } from './serializer.ts';

/**
 * `componentstatuses`: health of the control plane. The store is checked directly; the other components are healthy
 * while an instance holds their lease, because they may run anywhere.
 */
export function componentStatuses(core: Core): VirtualResource {
  const serializer = serializerOf(componentStatus, {});

  function leaderOf(name: string): string | undefined {
    const leases = core.resources.find('coordination.k8s.io', 'v1', 'leases')?.storage;
    const lease = leases?.cache.get(leases.keyOf('kube-system', name))?.object as unknown as Lease | undefined;
    const { holderIdentity, renewTime, leaseDurationSeconds = 0 } = lease?.spec ?? {};
    const isHeld =
      holderIdentity && renewTime && Date.parse(renewTime) + leaseDurationSeconds * 1000 > core.clock.now();
    return isHeld ? holderIdentity : undefined;
  }

  const held = (lease: string) => async () => {
    if (leaderOf(lease) === undefined) throw new Error(`no instance holds the lease ${lease}`);
  };
  const components: readonly { readonly name: string; readonly check: () => Promise<unknown> }[] = [
    { name: 'scheduler', check: held('kube-scheduler') },
    { name: 'controller-manager', check: held('kube-controller-manager') },
    { name: 'etcd-0', check: () => core.store.currentRevision() },
  ];

  async function statusOf({ name, check }: (typeof components)[number]): Promise<KubeObject> {
    const found = await check().then(
      () => ({ status: 'True', message: 'ok' }),
      (error: Error) => ({ status: 'False', message: error.message }),
    );
    const object = {
      kind: 'ComponentStatus',
      apiVersion: 'v1',
      metadata: { name, creationTimestamp: null },
      conditions: [{ type: 'Healthy', ...found }],
    };
    return serializer.canonical(object as KubeObject);
  }

  return {
    kind: componentStatus,
    serializer,
    deprecation: 'v1 ComponentStatus is deprecated in v1.19+',
    async get({ info }) {
      const component = components.find(({ name }) => name === info.name);
      if (!component) throw notFound({ group: '', plural: 'componentstatus' }, info.name);
      return statusOf(component);
    },
    list: () => Promise.all(components.map(statusOf)),
  };
}
