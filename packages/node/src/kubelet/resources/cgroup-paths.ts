/** Names of cgroups: one path in every hierarchy, as the cgroup driver of the runtime spells it. */
import type { QosClass } from '@kruise/api/core/pod-qos';

/** Cgroup driver: how the runtime names and creates cgroups. */
export type CgroupDriver = 'SYSTEMD' | 'CGROUPFS';

/** Place of the cgroups of a kubelet. */
export type CgroupPlace = {
  readonly driver: CgroupDriver;
  /** Parent of all cgroups of the kubelet, which separates several kubelets of one machine; the root if empty. */
  readonly root: string;
};

/** Returns the path of a cgroup by its names below the root. */
export function cgroupPath({ driver, root }: CgroupPlace, names: readonly string[]): string {
  const all = [...root.split('/').filter((each) => each !== ''), ...names];
  if (driver === 'CGROUPFS') return `/${all.join('/')}`;
  // A dash in the name of a slice separates it from its parent.
  const parts = all.map((each) => each.replaceAll('-', '_'));
  return `/${parts.map((_, index) => `${parts.slice(0, index + 1).join('-')}.slice`).join('/')}`;
}

/** QoS classes whose Pods have a cgroup between the cgroup of all Pods and their own. */
export const qosTiers = ['Burstable', 'BestEffort'] as const;

/** Returns the names of the cgroup of a QoS class. Guaranteed Pods are directly below the cgroup of all Pods. */
export function tierNames(qosClass: QosClass): readonly string[] {
  return qosClass === 'Guaranteed' ? ['kubepods'] : ['kubepods', qosClass.toLowerCase()];
}

/** Returns the path of the cgroup of a QoS class. */
export function tierPath(place: CgroupPlace, qosClass: QosClass): string {
  return cgroupPath(place, tierNames(qosClass));
}

/** Returns the path of the cgroup of a Pod. */
export function podCgroupPath(place: CgroupPlace, qosClass: QosClass, uid: string): string {
  return cgroupPath(place, [...tierNames(qosClass), `pod${uid}`]);
}

/** Returns the UID of the Pod that a cgroup belongs to, by the last part of its path. */
export function podUidOf(name: string): string | undefined {
  const [, plain, escaped] = /^(?:pod([0-9a-f-]{8,})|(?:[^/]*-)?pod([0-9a-f_]{8,})\.slice)$/.exec(name) ?? [];
  return plain ?? escaped?.replaceAll('_', '-');
}
