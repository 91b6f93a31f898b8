extends Node2D
## Joins a game, walks about and prints what is seen:
##
##     godot --headless --no-header --path demo -- 127.0.0.1:7777 field 10
##
## Without a room number after it, it creates a room of the game and starts it; with one it joins
## that room. AMBIT_PRINT=json prints a line of JSON each second; AMBIT_IMPAIR=loss=5 makes the line
## bad. Without arguments, in the editor, it plays until it is stopped.

const WAYS: Array[Vector3] = [
	Vector3(6, 0, 0), Vector3(0, 6, 0), Vector3(-6, 0, 0), Vector3(0, -6, 0)
]

var game := "field"
var room := 0
var seconds := 0
var step := 0
var came := 0
var went := 0
var until_next := 0.0

@onready var client: AmbitClient = $Client
@onready var world: AmbitWorld2D = $World
@onready var camera: Camera2D = $Camera


func _ready() -> void:
	client.lobby_event.connect(_on_lobby_event)
	client.object_came.connect(func(_id: int) -> void: came += 1)
	client.object_went.connect(func(_id: int) -> void: went += 1)
	var server := "127.0.0.1:7777"
	var words := OS.get_cmdline_user_args()
	if words.size() >= 3:
		server = words[0]
		game = words[1]
		seconds = int(words[2])
	if words.size() > 3:
		room = int(words[3])
	var settings := {}
	var impair := OS.get_environment("AMBIT_IMPAIR")
	if impair != "":
		settings["impair"] = impair
	if not client.start(server, settings):
		fail(client.last_error()["message"])


func _process(passed: float) -> void:
	var own := world.own_child()
	if own != null:
		camera.position = own.position
	until_next -= passed
	if client.time_us() < 0 or until_next > 0.0:
		return
	until_next = 1.0
	if OS.get_environment("AMBIT_PRINT") == "json":
		print_json()
	else:
		print_text()
	walk()
	step += 1
	came = 0
	went = 0
	if seconds > 0 and step >= seconds:
		client.close(1000)
		get_tree().quit(0)


func _on_lobby_event(event: String, data: Dictionary, _request: int) -> void:
	match event:
		# It comes again after a break, perhaps in the room as before.
		"welcome" when data["room"] != null:
			pass
		"welcome" when room == 0:
			client.request({"create_room": {"name": "from Godot", "game": game}})
		"welcome":
			client.request({"join_room": {"room": room}})
		"created":
			client.request("start_room")
		"error":
			printerr(data)
		"closed":
			fail(str(data))


## Walks to a place near, another one with each call; flies on in a game of ships. The map may end
## there: the next leads back.
func walk() -> void:
	var schema := client.schema()
	if has_named(schema["controls"], "accelerate"):
		client.hold(["accelerate", "turn-left"].slice(0, 1 + step % 2))
	var own := client.object(client.own_id())
	if not own.is_empty() and has_named(schema["commands"], "move"):
		client.send("move", {"to": own["position"] + WAYS[step % 4]})


func has_named(list: Array, what: String) -> bool:
	return list.any(func(it: Dictionary) -> bool: return it["name"] == what)


func print_text() -> void:
	var seen := client.objects()
	var head := "%.1f s in room %d: %d in sight, %d came, %d went"
	print(head % [client.time_us() / 1e6, client.player()["room"], seen.size(), came, went])
	for object: Dictionary in seen:
		var at: Vector3 = object["position"]
		var own := " (own)" if object["is_own"] else ""
		print("  #%d %s at %.2f %.2f%s" % [object["id"], object["kind"], at.x, at.y, own])


func print_json() -> void:
	var rows := PackedStringArray()
	var own := "null"
	for object: Dictionary in client.objects():
		var id: int = object["id"]
		var at: Vector3 = object["position"]
		rows.append("[%d, %d, %.3f, %.3f]" % [id, object["kind_index"], at.x, at.y])
		if object["is_own"]:
			own = "[%d, %.3f, %.3f]" % [id, at.x, at.y]
	var line := '{"time_us": %d, "room": %d, "objects": [%s], "own": %s}'
	print(line % [client.time_us(), client.player()["room"], ", ".join(rows), own])


func fail(why: String) -> void:
	printerr(why)
	get_tree().quit(1)
