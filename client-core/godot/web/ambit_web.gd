class_name AmbitWeb
extends Node
## The client in a page: the signals and calls of `AmbitClient`, by the package for browsers.
##
## The page loads `ambit-bridge.js` before Godot. Errors of calls are events called `error`.

signal lobby_event(name: String, data: Dictionary, request: int)
signal game_event(name: String, data: Dictionary)
signal object_came(id: int)
signal object_went(id: int)
signal drawn

var _bridge: JavaScriptObject
var _client := -1
var _kinds: PackedStringArray = []
var _objects := {}
var _own := -1


## Connects. `settings` are the options of `connect` of the package; without a `server` among them
## it is the one that serves the page.
func start(settings := {}) -> bool:
	_bridge = JavaScriptBridge.get_interface("ambitBridge")
	if _bridge == null:
		return false
	_client = _bridge.start(JSON.stringify(settings))
	return true


func close() -> void:
	if _client >= 0:
		_bridge.close(_client)
	_client = -1


func request(what: Variant) -> int:
	return _bridge.request(_client, JSON.stringify(what)) if _client >= 0 else -1


## Gives a command, with its values by the names of its fields, or as a list.
func send(command: String, values: Variant) -> bool:
	var list: Array = values if values is Array else [values]
	return _client >= 0 and _bridge.send(_client, command, JSON.stringify(_plain(list)))


func hold(controls: PackedStringArray) -> bool:
	return _client >= 0 and _bridge.hold(_client, JSON.stringify(controls))


func set_axis(control: String, value: float) -> bool:
	return _client >= 0 and _bridge.setAxis(_client, control, value)


func own_id() -> int:
	return _own


func objects() -> Array:
	return _objects.values()


func object(id: int) -> Dictionary:
	return _objects.get(id, {})


func _process(_passed: float) -> void:
	if _client < 0:
		return
	_draw_frame()
	var happened: Array = JSON.parse_string(_bridge.events(_client))
	for entry: Dictionary in happened:
		var data: Dictionary = entry["event"]
		if entry["of"] == "game":
			if data["ev"] == "started":
				_kinds.clear()
			game_event.emit(data["ev"], data)
		else:
			lobby_event.emit(data["ev"], data, int(entry["request"]))


func _draw_frame() -> void:
	var count: int = _bridge.draw(_client)
	var bytes := PackedByteArray()
	if count > 0:
		bytes = JavaScriptBridge.js_buffer_to_packed_byte_array(_bridge.frame(_client))
	var numbers := bytes.to_float64_array()
	var width: int = _bridge.numbers
	if count > 0 and _kinds.is_empty():
		var schema: Dictionary = JSON.parse_string(_bridge.schema(_client))
		for kind: Dictionary in schema.get("kinds", []):
			_kinds.append(kind["name"])
	var before := _objects
	_objects = {}
	_own = -1
	for index in count:
		var at := index * width
		var id := int(numbers[at])
		var is_own := numbers[at + 2] == 1.0
		if is_own:
			_own = id
		_objects[id] = {
			"id": id,
			"kind": _kinds[int(numbers[at + 1])],
			"is_own": is_own,
			"position": Vector3(numbers[at + 3], numbers[at + 4], numbers[at + 5]),
			"heading": numbers[at + 6],
		}
	for id: int in before:
		if not _objects.has(id):
			object_went.emit(id)
	for id: int in _objects:
		if not before.has(id):
			object_came.emit(id)
	drawn.emit()


## Vectors are lists in JSON.
func _plain(value: Variant) -> Variant:
	if value is Array:
		return value.map(_plain)
	if value is Vector2:
		return [value.x, value.y]
	if value is Vector3:
		return [value.x, value.y, value.z]
	if value is Dictionary:
		var plain := {}
		for key: String in value:
			plain[key] = _plain(value[key])
		return plain
	return value
