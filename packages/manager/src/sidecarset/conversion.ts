import { sidecarSet, sidecarSetV1alpha1 } from '@kruise/api/kruise/sidecarset';
import { sidecarSetCustomVersionLabel as versionLabel } from '@kruise/api/kruise/well-known';
import { conversionOf, without } from '../conversion/conversion.ts';

/** v1beta1 selects a namespace by its label, and has a field for a value that v1alpha1 keeps in a label. */
export const sidecarSetConversion = conversionOf(sidecarSetV1alpha1, sidecarSet, {
  toStored({ metadata, spec, status }) {
    const { namespace, ...rest } = spec;
    const { labels, ...meta } = metadata;
    const customVersion = labels?.[versionLabel];
    const kept = without(labels, versionLabel);
    return {
      metadata: { ...meta, ...(kept ? { labels: kept } : {}) },
      spec: {
        ...rest,
        ...(namespace ? { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } } } : {}),
        ...(customVersion ? { customVersion } : {}),
      },
      ...(status ? { status } : {}),
    };
  },

  toOlder({ metadata, spec, status }) {
    const { customVersion, ...rest } = spec;
    const labels = { ...metadata.labels, ...(customVersion ? { [versionLabel]: customVersion } : {}) };
    return {
      metadata: { ...metadata, ...(Object.keys(labels).length > 0 ? { labels } : {}) },
      spec: rest,
      ...(status ? { status } : {}),
    };
  },
});
