import * as s from '@kruise/schema';
import { status } from '../meta/status.ts';
import { typeMeta } from '../meta/type-meta.ts';

export const conversionRequest = s.object(
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.ConversionRequest',
  'Objects to convert.',
  {
    uid: s.required(1, s.string({ goType: 'types.UID' }), 'To be returned in the answer.'),
    desiredAPIVersion: s.required(2, s.string(), 'Group and version they are to have, such as example.com/v1.'),
    objects: s.required(3, s.list(s.rawExtension()), 'The objects, perhaps of several versions.'),
  },
);
export type ConversionRequest = s.TypeOf<typeof conversionRequest>;

export const conversionResponse = s.object(
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.ConversionResponse',
  'Objects that were converted.',
  {
    uid: s.required(1, s.string({ goType: 'types.UID' }), 'UID of the request.'),
    convertedObjects: s.required(
      2,
      s.list(s.rawExtension()),
      'The objects, in the order of the request. Only labels and annotations of the metadata may differ.',
    ),
    result: s.required(3, status, 'Result of the conversion: status Success, or Failure with a message.'),
  },
);
export type ConversionResponse = s.TypeOf<typeof conversionResponse>;

export const conversionReview = s.object(
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.ConversionReview',
  'Request to a conversion webhook and its response.',
  {
    ...typeMeta,
    request: s.pointer(1, conversionRequest, 'Request to the webhook.'),
    response: s.pointer(2, conversionResponse, 'Response of the webhook.'),
  },
);
export type ConversionReview = s.TypeOf<typeof conversionReview>;
