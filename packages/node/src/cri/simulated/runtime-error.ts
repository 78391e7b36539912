import { GrpcError, type StatusCode } from '@kruise/client/grpc/status';

/** Returns an error of the simulated runtime, as it would arrive from another process. */
export function runtimeError(code: StatusCode, message: string): GrpcError {
  return new GrpcError(code, message, { wasSent: true });
}

export function containerNotFound(id: string): GrpcError {
  return runtimeError('NOT_FOUND', `an error occurred when try to find container "${id}": not found`);
}

export function sandboxNotFound(id: string): GrpcError {
  return runtimeError('NOT_FOUND', `an error occurred when try to find sandbox: not found (${id})`);
}
