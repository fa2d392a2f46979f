/** Reported by the gateway for each request, for who counts. `route` is the template, never the path: a path holds ids without end. */
export type MeasureRequest = (request: {
  readonly method: string; readonly route: string; readonly status: number; readonly seconds: number;
}) => void;
