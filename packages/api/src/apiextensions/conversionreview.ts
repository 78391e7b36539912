import * as s from '@kruise/schema';
import { status } from '../meta/status.ts';
import { typeMeta } from '../meta/type-meta.ts';

export const conversionRequest = s.object('io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.ConversionRequest', '', {
  uid: s.required(1, s.string({ goType: 'types.UID' }), ''),
  desiredAPIVersion: s.required(2, s.string(), ''),
  objects: s.required(3, s.list(s.rawExtension()), ''),
});
export type ConversionRequest = s.TypeOf<typeof conversionRequest>;

export const conversionResponse = s.object('io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.ConversionResponse', '', {
  uid: s.required(1, s.string({ goType: 'types.UID' }), ''),
  convertedObjects: s.required(2, s.list(s.rawExtension()), ''),
  result: s.required(3, status, ''),
});
export type ConversionResponse = s.TypeOf<typeof conversionResponse>;

export const conversionReview = s.object('io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.ConversionReview', '', {
  ...typeMeta,
  request: s.pointer(1, conversionRequest, ''),
  response: s.pointer(2, conversionResponse, ''),
});
export type ConversionReview = s.TypeOf<typeof conversionReview>;
