import { type MouseEvent, type PointerEvent, useRef } from "react";
import type { Place } from "../placing/layout.ts";

/** A hand that clicks moves the mouse by less. */
const MIN_DRAG_PX = 4;

interface Drag {
  readonly from: Place;
  readonly at: Place;
}

/**
 * Moves a station with the mouse or a pen. A finger scrolls the map; who has nothing else pins by the button beside it.
 * @param scale Pixels of the screen for one of the drawing.
 * @param onMove Null where it stays.
 */
export function useDrag({ at, scale, onMove }: { readonly at: Place | undefined; readonly scale: number; readonly onMove: ((place: Place) => void) | null }) {
  const drag = useRef<Drag | null>(null);
  const isMoving = useRef(false);
  const end = () => {
    drag.current = null;
  };
  return {
    onPointerDown(event: PointerEvent<SVGGElement>) {
      isMoving.current = false;
      if (!onMove || !at || event.button !== 0 || event.pointerType === "touch") return;
      event.currentTarget.setPointerCapture(event.pointerId);
      drag.current = { from: placeOf(event), at };
    },
    onPointerMove(event: PointerEvent<SVGGElement>) {
      if (!drag.current || !onMove) return;
      const { from, at: start } = drag.current;
      const { x, y } = placeOf(event);
      if (Math.hypot(x - from.x, y - from.y) >= MIN_DRAG_PX) isMoving.current = true;
      if (isMoving.current) onMove({ x: start.x + (x - from.x) / scale, y: start.y + (y - from.y) / scale });
    },
    onPointerUp: end, onPointerCancel: end,
    /** Whether the click that comes after a drag is no click. */
    wasDragged: () => isMoving.current,
  };
}

function placeOf({ clientX, clientY }: MouseEvent): Place {
  return { x: clientX, y: clientY };
}
