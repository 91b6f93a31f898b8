// Calls `ambit-bridge.js`, which the page loads before Unity: the package for browsers.
mergeInto(LibraryManager.library, {
  $ambitText: function (text) {
    var size = lengthBytesUTF8(text) + 1;
    var memory = _malloc(size);
    stringToUTF8(text, memory, size);
    return memory;
  },
  AmbitWebStart: function (options) {
    return globalThis.ambitBridge ? globalThis.ambitBridge.start(UTF8ToString(options)) : -1;
  },
  AmbitWebRequest: function (client, request) {
    return globalThis.ambitBridge.request(client, UTF8ToString(request));
  },
  AmbitWebSend: function (client, command, values) {
    var list = UTF8ToString(values);
    return globalThis.ambitBridge.send(client, UTF8ToString(command), list) ? 1 : 0;
  },
  AmbitWebHold: function (client, controls) {
    return globalThis.ambitBridge.hold(client, UTF8ToString(controls)) ? 1 : 0;
  },
  AmbitWebSetAxis: function (client, control, value) {
    return globalThis.ambitBridge.setAxis(client, UTF8ToString(control), value) ? 1 : 0;
  },
  AmbitWebEvents__deps: ["$ambitText"],
  AmbitWebEvents: function (client) {
    return ambitText(globalThis.ambitBridge.events(client));
  },
  AmbitWebSchema__deps: ["$ambitText"],
  AmbitWebSchema: function (client) {
    return ambitText(globalThis.ambitBridge.schema(client));
  },
  AmbitWebDraw: function (client) {
    return globalThis.ambitBridge.draw(client);
  },
  AmbitWebCopyFrame: function (client, into, numbers) {
    var bytes = globalThis.ambitBridge.frame(client);
    HEAPU8.set(bytes.subarray(0, numbers * 8), into);
  },
  AmbitWebClose: function (client) {
    globalThis.ambitBridge.close(client);
  },
});
