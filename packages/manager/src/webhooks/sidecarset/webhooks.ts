import { type SidecarSet, sidecarSet, sidecarSetV1alpha1 } from '@kruise/api/kruise/sidecarset';
import type { Webhook } from '@kruise/client/webhook';
import { filling } from '../context.ts';
import { defaultSidecarSet } from './default.ts';

const versions = { v1beta1: sidecarSet, v1alpha1: sidecarSetV1alpha1 };

/** Both versions have all that is filled in. */
export function sidecarSetDefaulting(): Webhook {
  return filling<SidecarSet>(versions, defaultSidecarSet);
}
