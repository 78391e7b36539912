/** Priorities of groups in discovery: clients that find a kind in several groups use the first. */
const groupPriorities: { readonly [group: string]: number } = {
  '': 18000,
  'apiregistration.k8s.io': 20000,
  apps: 17800,
  'events.k8s.io': 17750,
  'authentication.k8s.io': 17700,
  'authorization.k8s.io': 17600,
  autoscaling: 17500,
  batch: 17400,
  'certificates.k8s.io': 17300,
  'networking.k8s.io': 17200,
  policy: 17100,
  'rbac.authorization.k8s.io': 17000,
  'storage.k8s.io': 16800,
  'admissionregistration.k8s.io': 16700,
  'apiextensions.k8s.io': 16700,
  'scheduling.k8s.io': 16600,
  'coordination.k8s.io': 16500,
  'node.k8s.io': 16300,
  'discovery.k8s.io': 16200,
  'flowcontrol.apiserver.k8s.io': 16100,
};

const customGroupPriority = 1000;

export function groupPriority(group: string): number {
  return groupPriorities[group] ?? customGroupPriority;
}

/**
 * Returns the priority of a version within its group, as in the APIService objects; other versions have equal priority.
 */
export function versionPriority(group: string, version: string): number {
  if (groupPriorities[group] === undefined) return 100;
  if (group === '') return 1;
  if (group === 'autoscaling' && version === 'v2') return 30;
  return group === 'flowcontrol.apiserver.k8s.io' ? 21 : 15;
}

/**
 * Compares versions, the most stable and newest first: v2, v1, v1beta2, v1beta1, v1alpha1, then other names
 * alphabetically.
 */
export function compareVersions(a: string, b: string): number {
  const [x, y] = [parseVersionName(a), parseVersionName(b)];
  if (x && y) return y.stability - x.stability || y.major - x.major || y.minor - x.minor;
  if (x || y) return x ? -1 : 1;
  return a < b ? -1 : a > b ? 1 : 0;
}

function parseVersionName(name: string): { major: number; stability: number; minor: number } | undefined {
  const match = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(name);
  if (!match) return undefined;
  const stability = match[2] === undefined ? 2 : match[2] === 'beta' ? 1 : 0;
  return { major: Number(match[1]), stability, minor: Number(match[3] ?? 0) };
}
