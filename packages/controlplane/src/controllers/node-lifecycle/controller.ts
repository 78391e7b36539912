import { node } from '@kruise/api/core/node';
import { type Controller, defineController, type Runnable } from '@kruise/client/controller';
import { decide } from './decide.ts';
import { type MonitorSettings, nodeMonitor } from './monitor.ts';

/** Defaults of kube-controller-manager's flags. */
export const defaultMonitorSettings: MonitorSettings = {
  periodSeconds: 5,
  monitorGraceSeconds: 50,
  startupGraceSeconds: 60,
  evictionRate: 0.1,
  secondaryEvictionRate: 0.01,
  largeClusterSize: 50,
  unhealthyZoneThreshold: 0.55,
};

/** Synchronizes the taints and labels of nodes with their conditions. */
const nodeTaintsController = defineController({
  name: 'node-lifecycle',
  component: 'node-controller',
  for: node,
  workers: 8,
  observe: (caches, key) => caches.of(node).get(key),
  decide,
});

export function nodeLifecycleControllers(settings: Partial<MonitorSettings> = {}): readonly (Controller | Runnable)[] {
  return [nodeTaintsController, nodeMonitor({ ...defaultMonitorSettings, ...settings })];
}
