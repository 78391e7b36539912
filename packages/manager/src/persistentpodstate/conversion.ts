import { persistentPodState, persistentPodStateV1alpha1 } from '@kruise/api/kruise/persistentpodstate';
import { conversionOf } from '../conversion/conversion.ts';

/** v1beta1 shortens the name of the field with node label keys. */
export const persistentPodStateConversion = conversionOf(persistentPodStateV1alpha1, persistentPodState, {
  toStored({ spec, ...object }) {
    const { requiredPersistentTopology: required, preferredPersistentTopology: preferred, ...rest } = spec;
    return {
      ...object,
      spec: {
        ...rest,
        ...(required ? { requiredPersistentTopology: { keys: required.nodeTopologyKeys } } : {}),
        ...(preferred
          ? {
              preferredPersistentTopology: preferred.map(({ weight, preference }) => ({
                weight,
                preference: { keys: preference.nodeTopologyKeys },
              })),
            }
          : {}),
      },
    };
  },

  toOlder({ spec, ...object }) {
    const { requiredPersistentTopology: required, preferredPersistentTopology: preferred, ...rest } = spec;
    return {
      ...object,
      spec: {
        ...rest,
        ...(required ? { requiredPersistentTopology: { nodeTopologyKeys: required.keys } } : {}),
        ...(preferred
          ? {
              preferredPersistentTopology: preferred.map(({ weight, preference }) => ({
                weight,
                preference: { nodeTopologyKeys: preference.keys },
              })),
            }
          : {}),
      },
    };
  },
});
