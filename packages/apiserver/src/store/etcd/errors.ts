import { GrpcError } from '@kruise/client/grpc/status';
import { CompactedError, FutureRevisionError, SpaceExceededError, StoreError } from '../store.ts';

/** Converts a gRPC error to a store error, given the requested revision. */
export function storeErrorOf(error: unknown, requestedRevision = 0): Error {
  if (!(error instanceof GrpcError)) return error as Error;
  // etcd distinguishes these two errors only by their text.
  if (error.code === 'OUT_OF_RANGE' && error.message.includes('compacted'))
    return new CompactedError(requestedRevision);
  if (error.code === 'OUT_OF_RANGE' && error.message.includes('future'))
    return new FutureRevisionError(requestedRevision);
  if (error.code === 'RESOURCE_EXHAUSTED' && error.message.includes('database space exceeded'))
    return new SpaceExceededError();
  return new StoreError(`etcd: ${error.message}`, { cause: error });
}
