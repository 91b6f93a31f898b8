extends SceneTree
## Prints what a frame costs with many objects in sight, each with a child:
##
##     godot --headless --no-header --path demo --script measure.gd -- 127.0.0.1:7777 1000

const SETTLE_S := 15.0
const FRAMES := 1_000

var objects := 1_000
var times := {"client": [], "2D": [], "3D": []}
var waited := 0.0
var client := AmbitClient.new()
var flat := AmbitWorld2D.new()
var solid := AmbitWorld3D.new()


func _initialize() -> void:
	var words := OS.get_cmdline_user_args()
	if words.size() > 1:
		objects = int(words[1])
	flat.other_scene = pack(Node2D.new())
	solid.other_scene = pack(Node3D.new())
	for node: Node in [client, flat, solid]:
		root.add_child(node)
		node.set_process(false)
	flat.client = client
	solid.client = client
	client.lobby_event.connect(_on_lobby_event)
	client.start(words[0] if words.size() > 0 else "127.0.0.1:7777", {"name": "measurer"})


func _process(passed: float) -> bool:
	waited += passed
	var began := Time.get_ticks_usec()
	client.update()
	var drawn := Time.get_ticks_usec()
	flat.update()
	var flat_done := Time.get_ticks_usec()
	solid.update()
	var solid_done := Time.get_ticks_usec()
	if waited < SETTLE_S:
		return false
	times["client"].append(drawn - began)
	times["2D"].append(flat_done - drawn)
	times["3D"].append(solid_done - flat_done)
	if times["client"].size() < FRAMES:
		return false
	var children := [flat.get_child_count(), solid.get_child_count()]
	print("%d objects in sight, %s children" % [client.ids().size(), children])
	for part: String in times:
		var sorted: Array = times[part]
		sorted.sort()
		print(
			"%s: %d us, 99 %% below %d us" % [part, sorted[FRAMES / 2], sorted[FRAMES * 99 / 100]]
		)
	client.close(1000)
	return true


func _on_lobby_event(event: String, data: Dictionary, _request: int) -> void:
	match event:
		"welcome":
			var parameters := {"npcs": objects, "size": "40x40", "obstacles": 0}
			var crowd := {"name": "crowd", "game": "field", "parameters": parameters}
			client.request({"create_room": crowd})
		"created":
			client.request("start_room")
		"error", "closed":
			printerr(data)
			quit(1)


func pack(node: Node) -> PackedScene:
	var scene := PackedScene.new()
	scene.pack(node)
	node.free()
	return scene
