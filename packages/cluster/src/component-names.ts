/**
 * Names of the components beside the API server, in a separate module, so that using the names does not load the
 * components.
 */
export const componentNames = [
  'cloud-controller-manager',
  'controller-manager',
  'daemon',
  'local-storage',
  'manager',
  'metrics',
  'scheduler',
] as const;
export type ComponentName = (typeof componentNames)[number];
