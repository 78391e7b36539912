/** The components a cluster has beside its API server. Apart, so that who only names them need not load them. */
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
