/** Flags of `kruise kubelet` that share and limit the resources of the machine. */
import type { ResourceList } from '@kruise/machinery/resource-list';
import type { AllocatableEnforcement } from '@kruise/node/kubelet/resources/pod-cgroups';
import type { ResourceSettings } from '@kruise/node/machine-node';
import type { KubeletFlags } from './kubelet-flags.ts';

const enforceable: readonly AllocatableEnforcement[] = ['pods', 'system-reserved', 'kube-reserved'];

/** Flags that the settings are parsed from. */
export type ResourceFlags = Pick<
  KubeletFlags,
  | 'cgroupsPerQos'
  | 'cgroupDriver'
  | 'enforceNodeAllocatable'
  | 'kubeReserved'
  | 'systemReserved'
  | 'kubeReservedCgroup'
  | 'systemReservedCgroup'
  | 'podMaxPids'
  | 'cpuCfsQuota'
  | 'cpuCfsQuotaPeriod'
  | 'memorySwapBehavior'
>;

/** Returns how the resources of the machine are shared and limited. Throws at a flag that is not valid. */
export function resourceSettings(flags: ResourceFlags): ResourceSettings {
  const { kubeReservedCgroup, systemReservedCgroup } = flags;
  const cgroupsPerQos = booleanOf('--cgroups-per-qos', flags.cgroupsPerQos);
  const enforced = new Set(oneOfEach(flags.enforceNodeAllocatable));
  if (!cgroupsPerQos && enforced.size > 0) {
    throw new Error('--enforce-node-allocatable must be none if --cgroups-per-qos is false');
  }
  for (const [name, path] of [
    ['kube-reserved', kubeReservedCgroup],
    ['system-reserved', systemReservedCgroup],
  ] as const) {
    if (enforced.has(name) && path === undefined) {
      throw new Error(`--enforce-node-allocatable=${name} needs --${name}-cgroup`);
    }
  }
  const maxPids = integerOf('--pod-max-pids', flags.podMaxPids);
  return {
    cgroupsPerQos,
    cgroupDriver: choiceOf('--cgroup-driver', flags.cgroupDriver, { cgroupfs: 'CGROUPFS', systemd: 'SYSTEMD' }),
    enforceNodeAllocatable: enforced,
    kubeReserved: reservedAmounts(flags.kubeReserved),
    systemReserved: reservedAmounts(flags.systemReserved),
    ...(kubeReservedCgroup === undefined ? {} : { kubeReservedCgroup }),
    ...(systemReservedCgroup === undefined ? {} : { systemReservedCgroup }),
    ...(maxPids > 0 ? { podPidsLimit: maxPids } : {}),
    cpuQuota: {
      isEnforced: booleanOf('--cpu-cfs-quota', flags.cpuCfsQuota),
      periodMicroseconds: periodOf(flags.cpuCfsQuotaPeriod),
    },
    swapBehavior: choiceOf('--memory-swap-behavior', flags.memorySwapBehavior, {
      NoSwap: 'NoSwap',
      LimitedSwap: 'LimitedSwap',
    }),
  };
}

/** Returns the amounts of a flag such as `cpu=200m,memory=500Mi`. */
export function reservedAmounts(text = ''): ResourceList {
  return Object.fromEntries(
    text
      .split(',')
      .filter((each) => each !== '')
      .map((each) => {
        const [name = '', ...value] = each.split('=');
        return [name, value.join('=')];
      }),
  );
}

function oneOfEach(text: string): readonly AllocatableEnforcement[] {
  if (text === '' || text === 'none') return [];
  return text.split(',').map((name) => {
    const found = enforceable.find((each) => each === name);
    if (!found) throw new Error(`--enforce-node-allocatable: ${name} is none of ${enforceable.join(', ')}`);
    return found;
  });
}

/** A flag without a value is true. */
function booleanOf(flag: string, value: string | boolean): boolean {
  if (value === true || value === 'true') return true;
  if (value === 'false') return false;
  throw new Error(`${flag} must be true or false, not ${value}`);
}

function choiceOf<T>(flag: string, value: string, choices: { readonly [name: string]: T }): T {
  if (Object.hasOwn(choices, value)) return choices[value]!;
  throw new Error(`${flag} must be one of ${Object.keys(choices).join(', ')}, not ${value}`);
}

/** Returns the whole number of a flag. */
export function integerOf(flag: string, value: string): number {
  if (!/^-?\d+$/.test(value)) throw new Error(`${flag} must be a whole number, not ${value}`);
  return Number(value);
}

function periodOf(text: string): number {
  const [, amount, unit] = /^(\d+)(us|ms|s)$/.exec(text) ?? [];
  const microseconds = Number(amount) * (unit === 's' ? 1_000_000 : unit === 'ms' ? 1000 : 1);
  if (microseconds >= 1000 && microseconds <= 1_000_000) return microseconds;
  throw new Error(`--cpu-cfs-quota-period must be from 1ms to 1s, not ${text}`);
}
