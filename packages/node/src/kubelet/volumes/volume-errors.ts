/** Errors of volumes that are not mounted. */

/** A PVC that has no volume to mount yet. That is not a failure: the kubelet waits for it without limit. */
export class PersistentVolumeClaimNotReadyError extends Error {
  override readonly name = 'ClaimNotReadyError';
}
